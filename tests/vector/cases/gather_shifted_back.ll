; SPDX-License-Identifier: Apache-2.0
; The same where rows of later lanes come first in memory, as along a diagonal, and with a store to
; the thread's own row in between.
; run: nx=1,7,16,33,96 ny=1,3
; arrays: a=36+44:f32 b=4 c=4:f32

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %up = mul nsw i64 %i, 36
  %down = sub i64 0, %up
  %last = sub i32 %n, 1
  %last64 = sext i32 %last to i64
  %from = mul nsw i64 %last64, 36
  %end = getelementptr i8, ptr %a, i64 %from
  %p = getelementptr i8, ptr %end, i64 %down
  %own = getelementptr i8, ptr %p, i64 16
  %near = getelementptr i8, ptr %p, i64 4
  %next = getelementptr i8, ptr %p, i64 40
  %v0 = load float, ptr %near
  %old = load float, ptr %own
  %half = fmul float %old, 5.000000e-01
  store float %half, ptr %own
  %v1 = load float, ptr %next
  %s = fsub float %v0, %v1
  %sum = fadd float %s, %half
  %q = getelementptr float, ptr %c, i64 %i
  store float %sum, ptr %q
  ret void
}
