; SPDX-License-Identifier: Apache-2.0
; All operations on floats, comparisons, negation.
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
  %a1 = fadd float %v, %w
  %a2 = fsub float %a1, 2.0
  %a3 = fmul float %a2, %v
  %w2 = fmul float %w, %w
  %w3 = fadd float %w2, 1.0
  %a4 = fdiv float %a3, %w3
  %a5 = fneg float %a4
  %c1 = fcmp olt float %v, %w
  %c2 = fcmp uno float %v, %w
  %c3 = fcmp une float %v, 0.0
  %s1 = select i1 %c1, float %a5, float %a1
  %s2 = select i1 %c3, float %s1, float %w
  %z = uitofp i1 %c2 to float
  %r = fadd float %s2, %z
  %rem = frem float %r, 7.0
  %r2 = fadd float %r, %rem
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %bits.1 = bitcast float %r2 to i32
  %new.1 = add i32 %three.1, %bits.1
  store i32 %new.1, ptr %pc
  ret void
}
