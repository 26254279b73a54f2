; SPDX-License-Identifier: Apache-2.0
; Only the first threads of a row have work: fewer than a vector, none, or all.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %half = udiv i32 %nx, 3
  %is.first = icmp ult i32 %x, %half
  br i1 %is.first, label %work, label %end

work:
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %l = load i32, ptr %pa
  %old = load i32, ptr %pc
  %new = sub i32 %l, %old
  store i32 %new, ptr %pc
  br label %end

end:
  ret void
}
