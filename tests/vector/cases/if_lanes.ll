; SPDX-License-Identifier: Apache-2.0
; Ifs whose condition is about the lane: first, last, every other.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %first = icmp eq i32 %x, 0
  br i1 %first, label %do.first, label %next

do.first:
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, -1
  store i32 %new.1, ptr %pc
  br label %next

next:
  %last = sub nsw i32 %nx, 1
  %is.last = icmp eq i32 %x, %last
  br i1 %is.last, label %do.last, label %third

do.last:
  %v = load i32, ptr %pa
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %v
  store i32 %new.2, ptr %pc
  br label %third

third:
  %bit = and i32 %x, 1
  %odd = icmp ne i32 %bit, 0
  br i1 %odd, label %do.odd, label %end

do.odd:
  %pl = getelementptr i32, ptr %pa, i64 -1
  %w = load i32, ptr %pl
  %old.3 = load i32, ptr %pc
  %three.3 = mul i32 %old.3, 3
  %new.3 = add i32 %three.3, %w
  store i32 %new.3, ptr %pc
  br label %end

end:
  ret void
}
