; SPDX-License-Identifier: Apache-2.0
; Neighbours but at a row's ends, where only some lanes come: now and then not the first one, whose index is
; poison. What they write is theirs alone: the places of a row, one further on.
; arrays: a=4:small b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %v = load i32, ptr %pb
  %few = and i32 %v, 7
  %does = icmp ne i32 %few, 0
  br i1 %does, label %do, label %end

do:
  %last = add nsw i32 %nx, -1
  %is.last = icmp eq i32 %x, %last
  %behind = add nsw i32 %x, 1
  %right = select i1 %is.last, i32 0, i32 %behind
  %r = add nsw i32 %row, %right
  %r64 = sext i32 %r to i64
  %pa = getelementptr i32, ptr %a, i64 %r64
  %w = load i32, ptr %pa
  %pc = getelementptr i32, ptr %c, i64 %r64
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %sum = add i32 %w, %v
  %new = add i32 %three, %sum
  store i32 %new, ptr %pc
  br label %end

end:
  ret void
}
