; SPDX-License-Identifier: Apache-2.0
; A branch that all threads take together decides which threads of a row have work: the first one,
; those up to a number, or all but a few.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %kind = and i32 %nx, 3
  %is.zero = icmp eq i32 %kind, 0
  br i1 %is.zero, label %one, label %more

one:
  %is.one = icmp eq i32 %x, 0
  br i1 %is.one, label %work, label %end

more:
  %is.odd = icmp eq i32 %kind, 1
  br i1 %is.odd, label %few, label %many

few:
  %is.above = icmp ugt i32 %x, 9
  br i1 %is.above, label %end, label %work

many:
  %is.last = icmp uge i32 %x, 3
  br i1 %is.last, label %work, label %end

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
