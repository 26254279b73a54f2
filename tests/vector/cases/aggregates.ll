; SPDX-License-Identifier: Apache-2.0
; Structures as values.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pa
  %w = load float, ptr %pb
  %s0 = insertvalue { i32, { float, i64 } } poison, i32 %v, 0
  %s1 = insertvalue { i32, { float, i64 } } %s0, float %w, 1, 0
  %x64 = sext i32 %x to i64
  %s2 = insertvalue { i32, { float, i64 } } %s1, i64 %x64, 1, 1
  %c0 = icmp ugt i32 %x, 4
  %s3 = insertvalue { i32, { float, i64 } } %s2, i32 %y, 0
  %s = select i1 %c0, { i32, { float, i64 } } %s2, { i32, { float, i64 } } %s3
  %e0 = extractvalue { i32, { float, i64 } } %s, 0
  %e1 = extractvalue { i32, { float, i64 } } %s, 1, 0
  %e2 = extractvalue { i32, { float, i64 } } %s, 1, 1
  %f = bitcast float %e1 to i32
  %l = trunc i64 %e2 to i32
  %r1 = add i32 %e0, %f
  %r2 = xor i32 %r1, %l
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r2
  store i32 %new.1, ptr %pc
  ret void
}
