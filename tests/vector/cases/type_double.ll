; SPDX-License-Identifier: Apache-2.0
; Accesses of double.
; arrays: a=8:f64 b=8:f64 c=8

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr double, ptr %a, i64 %i
  %pb = getelementptr double, ptr %b, i64 %i
  %pc = getelementptr double, ptr %c, i64 %i
  %v = load double, ptr %pa
  %w = load double, ptr %pb
  %m = fmul double %v, %w
  %m2 = fadd double %m, 1.5
  store double %m2, ptr %pc
  ret void
}
