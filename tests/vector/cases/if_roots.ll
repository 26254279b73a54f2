; SPDX-License-Identifier: Apache-2.0
; Some lanes, none, or all take quotients and roots, which is branched around; the others keep what
; they have.
; run: nx=1,7,16,33,96 ny=1,3 n=all,half,0
; arrays: a=4:f32 b=4 c=4:zero
define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
entry:
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %in = getelementptr float, ptr %a, i64 %i
  %v = load float, ptr %in
  %twice = fadd float %v, %v
  %where = getelementptr i32, ptr %b, i64 %i
  %w = load i32, ptr %where
  %few = and i32 %w, 3
  %is.few = icmp eq i32 %few, 0
  %is.all = icmp sge i32 %x, %n
  %rare = or i1 %is.few, %is.all
  br i1 %rare, label %then, label %meet
then:
  %root = call float @llvm.sqrt.f32(float %v)
  %inverse = fdiv float 1.0, %root
  br label %meet
meet:
  %s = phi float [ %inverse, %then ], [ %twice, %entry ]
  %is.nan = fcmp uno float %s, %s
  %result = select i1 %is.nan, float 1.0, float %s
  %out = getelementptr float, ptr %c, i64 %i
  store float %result, ptr %out
  ret void
}
declare float @llvm.sqrt.f32(float)
