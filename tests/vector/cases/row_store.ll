; SPDX-License-Identifier: Apache-2.0
; The first thread of each row stores to the row's address.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %first = icmp eq i32 %x, 0
  br i1 %first, label %do, label %end

do:
  %v = load i32, ptr %pa
  %y64 = zext i32 %y to i64
  %q = getelementptr i32, ptr %c, i64 %y64
  store i32 %v, ptr %q
  br label %end

end:
  ret void
}
