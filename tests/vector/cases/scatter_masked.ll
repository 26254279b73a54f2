; SPDX-License-Identifier: Apache-2.0
; The same under a mask.
; arrays: a=4 b=4:small c=4+32

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %v = load i32, ptr %pb
  %c0 = icmp ugt i32 %v, 6
  br i1 %c0, label %do, label %end

do:
  %w = load i32, ptr %pa
  %o = xor i64 %i, 5
  %q = getelementptr i32, ptr %c, i64 %o
  store i32 %w, ptr %q
  br label %end

end:
  ret void
}
