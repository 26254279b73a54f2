; SPDX-License-Identifier: Apache-2.0
; Vectors of four floats, as PTX loads and stores them.
; arrays: a=16:f32 b=16:f32 c=16

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr <4 x float>, ptr %a, i64 %i
  %pb = getelementptr <4 x float>, ptr %b, i64 %i
  %pc = getelementptr <4 x float>, ptr %c, i64 %i
  %v = load <4 x float>, ptr %pa, align 16
  %w = load <4 x float>, ptr %pb, align 16
  %e = extractelement <4 x float> %v, i32 2
  %s = fmul <4 x float> %v, %w
  %s2 = insertelement <4 x float> %s, float %e, i32 0
  store <4 x float> %s2, ptr %pc, align 16
  ret void
}
