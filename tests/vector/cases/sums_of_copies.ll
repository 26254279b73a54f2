; SPDX-License-Identifier: Apache-2.0
; Sums at places that lanes share, and changes of each lane's own, of which nobody wants the result: one loop for the
; lanes of all copies.
; arrays: a=4 b=4:small c=4+64

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %v = load i32, ptr %pb
  %w = load i32, ptr %pa
  %v64 = zext i32 %v to i64
  %p = getelementptr i32, ptr %c, i64 %v64
  %old = load volatile i32, ptr %p
  %new = add i32 %old, %w
  store volatile i32 %new, ptr %p
  %at = load volatile i32, ptr %pa
  %third = mul i32 %at, 3
  %more = add i32 %third, %x
  store volatile i32 %more, ptr %pa
  %fixed = load volatile i32, ptr %c
  %one = add i32 %fixed, %t
  store volatile i32 %one, ptr %c
  ret void
}
