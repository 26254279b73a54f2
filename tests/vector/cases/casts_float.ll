; SPDX-License-Identifier: Apache-2.0
; Between floats and integers, in range.
; arrays: a=4:f32 b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr float, ptr %a, i64 %i
  %pc = getelementptr float, ptr %c, i64 %i
  %v = load float, ptr %pa
  %i1 = fptosi float %v to i32
  %ab = call float @llvm.fabs.f32(float %v)
  %u1 = fptoui float %ab to i32
  %d = fpext float %v to double
  %d2 = fmul double %d, 3.0
  %l = fptosi double %d2 to i64
  %f1 = sitofp i32 %i1 to float
  %f2 = uitofp i32 %u1 to double
  %f3 = sitofp i64 %l to float
  %f4 = fptrunc double %f2 to float
  %xf = uitofp i32 %x to float
  %yf = sitofp i32 %y to float
  %r1 = fadd float %f1, %f3
  %r2 = fsub float %r1, %f4
  %r3 = fadd float %r2, %xf
  %r4 = fadd float %r3, %yf
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %bits.1 = bitcast float %r4 to i32
  %new.1 = add i32 %three.1, %bits.1
  store i32 %new.1, ptr %pc
  ret void
}

declare float @llvm.fabs.f32(float)
