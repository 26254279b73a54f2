; SPDX-License-Identifier: Apache-2.0
; Integers of 128 bits: the high half of a product.
; arrays: a=8 b=8 c=8

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i64, ptr %a, i64 %i
  %pb = getelementptr i64, ptr %b, i64 %i
  %pc = getelementptr i64, ptr %c, i64 %i
  %v = load i64, ptr %pa
  %w = load i64, ptr %pb
  %vw = zext i64 %v to i128
  %ww = zext i64 %w to i128
  %m = mul i128 %vw, %ww
  %h = lshr i128 %m, 64
  %r = trunc i128 %h to i64
  store i64 %r, ptr %pc
  ret void
}
