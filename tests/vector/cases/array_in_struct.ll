; SPDX-License-Identifier: Apache-2.0
; Addresses made of several indices, one of them the row.
; arrays: a=20 b=4 c=20

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %y2 = and i32 %y, 3
  %y64 = zext i32 %y2 to i64
  %p = getelementptr { i32, [4 x [2 x i16]] }, ptr %a, i64 %i, i32 1, i64 %y64, i64 1
  %v = load i16, ptr %p
  %q = getelementptr { i32, [4 x [2 x i16]] }, ptr %c, i64 %i, i32 1, i64 %y64, i64 0
  store i16 %v, ptr %q
  ret void
}
