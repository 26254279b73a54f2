; SPDX-License-Identifier: Apache-2.0
; A row moved by one place, its last element to the front: scatters to neighbours but at the end.
; arrays: a=4:small b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %v = load i32, ptr %pa
  %next = add nsw i32 %x, 1
  %to = srem i32 %next, %nx
  %r = add nsw i32 %row, %to
  %r64 = sext i32 %r to i64
  %pc = getelementptr i32, ptr %c, i64 %r64
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %v
  store i32 %new, ptr %pc
  ret void
}
