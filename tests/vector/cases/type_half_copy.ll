; SPDX-License-Identifier: Apache-2.0
; Halves and floats that are NaN go through unchanged.
; arrays: a=2 b=4 c=4+1024

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr half, ptr %a, i64 %i
  %pc = getelementptr half, ptr %c, i64 %i
  %v = load half, ptr %pa
  %p4 = getelementptr float, ptr %b, i64 %i
  %f = load float, ptr %p4
  %c0 = icmp ugt i32 %x, 3
  %w = select i1 %c0, half %v, half 0xH7E01
  store half %w, ptr %pc
  %q = getelementptr i8, ptr %c, i64 1024
  %q4 = getelementptr float, ptr %q, i64 %i
  store float %f, ptr %q4
  ret void
}
