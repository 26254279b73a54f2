; SPDX-License-Identifier: Apache-2.0
; A frozen value, and one that is poison in some lanes but not used there.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %f = freeze i32 %v
  %fx = freeze i32 %x
  %s = add i32 %f, %f
  %sum = add i32 %s, %fx
  %small = icmp ult i32 %v, 32
  %bits = shl i32 1, %v
  %fb = freeze i32 %bits
  %r = select i1 %small, i32 %fb, i32 0
  %r2 = xor i32 %r, %sum
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r2
  store i32 %new.1, ptr %pc
  ret void
}
