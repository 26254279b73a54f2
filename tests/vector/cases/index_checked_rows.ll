; SPDX-License-Identifier: Apache-2.0
; An index that may wrap, made where some rows are not, with all of its parts: there it is anything.
; run: nx=1,7,16,33,96 ny=1,3,4
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul i32 %y, %nx
  %t = add i32 %row, %x
  %i = zext i32 %t to i64
  %back = zext i32 %n to i64
  %bytes = mul i64 %back, -4
  %pa = getelementptr i8, ptr %a, i64 %bytes
  %pc = getelementptr i8, ptr %c, i64 %bytes
  %pb = getelementptr i32, ptr %b, i64 %i
  %v = load i32, ptr %pb
  %shifted = add i32 %v, %y
  %c0 = icmp ugt i32 %shifted, 8
  br i1 %c0, label %do, label %end

do:
  %zero = udiv i32 %n, 1000003
  %sum = add i32 %t, %n
  %index = add i32 %sum, %zero
  %z = zext i32 %index to i64
  %p = getelementptr i32, ptr %pa, i64 %z
  %w = load i32, ptr %p
  %q = getelementptr i32, ptr %pc, i64 %z
  %old = load i32, ptr %q
  %three = mul i32 %old, 3
  %new = add i32 %three, %w
  store i32 %new, ptr %q
  br label %end

end:
  ret void
}
