; SPDX-License-Identifier: Apache-2.0
; Rows rotated: two stretches that follow each other, in a vector too.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %total = mul nsw i32 %nx, %ny
  %third = udiv i32 %total, 3
  %rest = sub nsw i32 %total, %third
  %is.low = icmp ult i32 %t, %rest
  %up = add nsw i32 %t, %third
  %down = sub nsw i32 %t, %rest
  %rot = select i1 %is.low, i32 %up, i32 %down
  %z = zext i32 %rot to i64
  %p = getelementptr i32, ptr %a, i64 %z
  %v = load i32, ptr %p
  %q = getelementptr i32, ptr %c, i64 %z
  %old = load i32, ptr %q
  %s = sub i32 %v, %old
  store i32 %s, ptr %q
  ret void
}
