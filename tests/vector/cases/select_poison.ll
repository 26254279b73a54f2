; SPDX-License-Identifier: Apache-2.0
; Selects that keep poison out, also of conditions.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %huge = icmp ugt i32 %v, 6
  %sh = add i32 %v, 25
  %p = shl i32 1, %sh
  %s = select i1 %huge, i32 -1, i32 %p
  %x.big = add nsw i32 %x, 2147483632
  %pc0 = icmp slt i32 %x.big, 5
  %small = icmp ult i32 %x, 16
  %cc = select i1 %small, i1 %pc0, i1 false
  %z = zext i1 %cc to i32
  %r = add i32 %s, %z
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r
  store i32 %new.1, ptr %pc
  ret void
}
