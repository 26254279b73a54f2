; SPDX-License-Identifier: Apache-2.0
; One thread stores to an address that all have.
; arrays: a=4 b=4 c=4+32

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %five = icmp eq i32 %t, 5
  %v = load i32, ptr %pa
  br i1 %five, label %do, label %end

do:
  store i32 %v, ptr %c
  br label %end

end:
  ret void
}
