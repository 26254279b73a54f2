; SPDX-License-Identifier: Apache-2.0
; The first threads of a row have work, by a signed comparison whose limit may be negative, and of
; those only some.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %limit = sub i32 %nx, 40
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %is.first = icmp sgt i32 %limit, %x
  %odd = and i32 %t, 1
  %is.odd = icmp ne i32 %odd, 0
  %works = select i1 %is.first, i1 %is.odd, i1 false
  br i1 %works, label %work, label %end

work:
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %l = load i32, ptr %pa
  %old = load i32, ptr %pc
  %new = add i32 %l, %old
  store i32 %new, ptr %pc
  br label %end

end:
  ret void
}
