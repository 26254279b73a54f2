; SPDX-License-Identifier: Apache-2.0
; Every element of 2: loads and stores with a stride, other elements stay.
; arrays: a=8 b=4 c=8

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %k = mul nuw nsw i64 %i, 2
  %p = getelementptr i32, ptr %a, i64 %k
  %v = load i32, ptr %p
  %p1 = getelementptr i32, ptr %p, i64 1
  %w = load i32, ptr %p1
  %s = add i32 %v, %w
  %q = getelementptr i32, ptr %c, i64 %k
  store i32 %s, ptr %q
  ret void
}
