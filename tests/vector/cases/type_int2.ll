; SPDX-License-Identifier: Apache-2.0
; Vectors of two integers, whole and by element, with an element that varies.
; arrays: a=8 b=4 c=8

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr <2 x i32>, ptr %a, i64 %i
  %pc = getelementptr <2 x i32>, ptr %c, i64 %i
  %v = load <2 x i32>, ptr %pa, align 8
  %x1 = and i32 %x, 1
  %e = extractelement <2 x i32> %v, i32 %x1
  %f = extractelement <2 x i32> %v, i32 1
  %s = add i32 %e, %f
  %w = insertelement <2 x i32> %v, i32 %s, i32 %x1
  %z = shufflevector <2 x i32> %w, <2 x i32> %v, <2 x i32> <i32 3, i32 0>
  store <2 x i32> %z, ptr %pc, align 8
  ret void
}
