; SPDX-License-Identifier: Apache-2.0
; Elements far apart: columns of a matrix.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %col = mul nsw i32 %x, %ny
  %at = add nsw i32 %col, %y
  %at64 = sext i32 %at to i64
  %p = getelementptr i32, ptr %a, i64 %at64
  %v = load i32, ptr %p
  %q = getelementptr i32, ptr %c, i64 %at64
  store i32 %v, ptr %q
  ret void
}
