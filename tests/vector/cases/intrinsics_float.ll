; SPDX-License-Identifier: Apache-2.0
; Intrinsics on floats.
; arrays: a=4:f32 b=4:f32 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr float, ptr %a, i64 %i
  %pb = getelementptr float, ptr %b, i64 %i
  %pc = getelementptr float, ptr %c, i64 %i
  %v = load float, ptr %pa
  %w = load float, ptr %pb
  %m1 = call float @llvm.fma.f32(float %v, float %w, float 1.5)
  %m2 = call float @llvm.fabs.f32(float %m1)
  %m3 = call float @llvm.sqrt.f32(float %m2)
  %m4 = call float @llvm.floor.f32(float %v)
  %m5 = call float @llvm.copysign.f32(float %m3, float %w)
  %m6 = call float @llvm.minnum.f32(float %v, float %w)
  %m7 = call float @llvm.ldexp.f32.i32(float %v, i32 3)
  %m8 = call i32 @llvm.fptosi.sat.i32.f32(float %m1)
  %m9 = call float @llvm.rint.f32(float %v)
  %m8f = sitofp i32 %m8 to float
  %r1 = fadd float %m5, %m4
  %r2 = fsub float %r1, %m6
  %r3 = fadd float %r2, %m7
  %r4 = fadd float %r3, %m8f
  %r5 = fadd float %r4, %m9
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %bits.1 = bitcast float %r5 to i32
  %new.1 = add i32 %three.1, %bits.1
  store i32 %new.1, ptr %pc
  ret void
}

declare float @llvm.fma.f32(float, float, float)
declare float @llvm.fabs.f32(float)
declare float @llvm.sqrt.f32(float)
declare float @llvm.floor.f32(float)
declare float @llvm.copysign.f32(float, float)
declare float @llvm.minnum.f32(float, float)
declare float @llvm.ldexp.f32.i32(float, i32)
declare i32 @llvm.fptosi.sat.i32.f32(float)
declare float @llvm.rint.f32(float)
