; SPDX-License-Identifier: Apache-2.0
; Relaxed and volatile accesses under a mask; what one lane stores it reads again.
; arrays: a=4 b=4+32:small c=12

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %v = load i32, ptr %pb
  %c0 = icmp ugt i32 %v, 5
  br i1 %c0, label %do, label %end

do:
  %near = load atomic volatile i32, ptr %pa monotonic, align 4
  %any = and i32 %v, 7
  %j = zext nneg i32 %any to i64
  %pj = getelementptr i32, ptr %b, i64 %j
  %far = load atomic volatile i32, ptr %pj monotonic, align 4
  %third = mul nsw i64 %i, 3
  %pc = getelementptr i32, ptr %c, i64 %third
  %s0 = add i32 %near, %far
  store atomic volatile i32 %s0, ptr %pc monotonic, align 4
  store atomic volatile i32 %s0, ptr %pa monotonic, align 4
  %again = load atomic volatile i32, ptr %pa monotonic, align 4
  %s1 = add i32 %again, %v
  store atomic volatile i32 %s1, ptr %pa monotonic, align 4
  br label %end

end:
  ret void
}
