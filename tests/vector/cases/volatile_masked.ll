; SPDX-License-Identifier: Apache-2.0
; Volatile accesses under a mask.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %c0 = icmp ugt i32 %v, 9
  br i1 %c0, label %do, label %end

do:
  %w = load volatile i32, ptr %pa
  %d = add i32 %w, %v
  store volatile i32 %d, ptr %pc
  br label %end

end:
  ret void
}
