; SPDX-License-Identifier: Apache-2.0
; A guard that looks at the row only.
; run: ny=1,2,3,6

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %from = sub i32 %y, 1
  %in = icmp ult i32 %from, 4
  br i1 %in, label %do, label %end

do:
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %t
  store i32 %new.1, ptr %pc
  br label %end

end:
  ret void
}
