; SPDX-License-Identifier: Apache-2.0
; Relaxed and volatile accesses of single lanes: neighbours, a stride, the same address, and any.
; arrays: a=4 b=4+32:small c=12

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %third = mul nsw i64 %i, 3
  %pc = getelementptr i32, ptr %c, i64 %third
  %pc1 = getelementptr i32, ptr %pc, i64 1
  %near = load atomic volatile i32, ptr %pa monotonic, align 4
  %v = load atomic i32, ptr %pb monotonic, align 4
  %same = load atomic volatile i32, ptr %b monotonic, align 4
  %any = and i32 %v, 7
  %j = zext nneg i32 %any to i64
  %pj = getelementptr i32, ptr %b, i64 %j
  %far = load atomic volatile i32, ptr %pj monotonic, align 4
  %step = load atomic volatile i32, ptr %pc monotonic, align 4
  %s0 = add i32 %near, %v
  %s1 = add i32 %same, %far
  %s2 = add i32 %s0, %step
  %s3 = xor i32 %s2, %s1
  store atomic volatile i32 %s3, ptr %pa monotonic, align 4
  store atomic volatile i32 %s1, ptr %pc1 monotonic, align 4
  ret void
}
