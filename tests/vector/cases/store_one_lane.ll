; SPDX-License-Identifier: Apache-2.0
; Narrow stores of one lane that is known: neighbours stay as they are.
; run: nx=5,7,9,17,33 ny=1,3
; arrays: a=4 b=2 c=2

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %v = load i32, ptr %pa
  %e = icmp eq i32 %x, 4
  br i1 %e, label %do, label %end

do:
  %h = trunc i32 %v to i16
  %q = getelementptr i16, ptr %c, i64 %i
  store i16 %h, ptr %q
  br label %end

end:
  %b8 = trunc i32 %v to i8
  %beyond = getelementptr i8, ptr %b, i64 %i
  store i8 %b8, ptr %beyond
  ret void
}
