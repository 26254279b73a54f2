; SPDX-License-Identifier: Apache-2.0
; Accesses of half; arithmetic in float.
; arrays: a=2:f16 b=2:f16 c=2

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr half, ptr %a, i64 %i
  %pb = getelementptr half, ptr %b, i64 %i
  %pc = getelementptr half, ptr %c, i64 %i
  %v = load half, ptr %pa
  %w = load half, ptr %pb
  %vf = fpext half %v to float
  %wf = fpext half %w to float
  %m = fmul float %vf, %wf
  %r = fptrunc float %m to half
  store half %r, ptr %pc
  ret void
}
