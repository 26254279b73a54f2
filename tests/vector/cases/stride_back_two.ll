; SPDX-License-Identifier: Apache-2.0
; Every other element, backwards, of two bytes.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %last = sub nsw i32 %nx, 1
  %back = sub nsw i32 %last, %x
  %at = add nsw i32 %row, %back
  %at2 = shl nsw i32 %at, 1
  %at64 = sext i32 %at2 to i64
  %p = getelementptr i16, ptr %a, i64 %at64
  %v = load i16, ptr %p
  %r = add i16 %v, 3
  %q = getelementptr i16, ptr %c, i64 %at64
  store i16 %r, ptr %q
  ret void
}
