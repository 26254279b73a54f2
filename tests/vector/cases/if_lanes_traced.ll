; SPDX-License-Identifier: Apache-2.0
; Ifs whose condition is about the lane: first, last, every other. Every block writes down that it ran.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %first = icmp eq i32 %x, 0
  br i1 %first, label %do.first, label %next

do.first:
  %was.1 = load i32, ptr %pc
  %six.1 = mul i32 %was.1, 6
  %now.1 = add i32 %six.1, 1
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %now.1
  store i32 %new.1, ptr %pc
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, -1
  store i32 %new.2, ptr %pc
  br label %next

next:
  %was.2 = load i32, ptr %pc
  %six.2 = mul i32 %was.2, 6
  %now.2 = add i32 %six.2, 2
  %old.3 = load i32, ptr %pc
  %three.3 = mul i32 %old.3, 3
  %new.3 = add i32 %three.3, %now.2
  store i32 %new.3, ptr %pc
  %last = sub nsw i32 %nx, 1
  %is.last = icmp eq i32 %x, %last
  br i1 %is.last, label %do.last, label %third

do.last:
  %was.3 = load i32, ptr %pc
  %six.3 = mul i32 %was.3, 6
  %now.3 = add i32 %six.3, 3
  %old.4 = load i32, ptr %pc
  %three.4 = mul i32 %old.4, 3
  %new.4 = add i32 %three.4, %now.3
  store i32 %new.4, ptr %pc
  %v = load i32, ptr %pa
  %old.5 = load i32, ptr %pc
  %three.5 = mul i32 %old.5, 3
  %new.5 = add i32 %three.5, %v
  store i32 %new.5, ptr %pc
  br label %third

third:
  %was.4 = load i32, ptr %pc
  %six.4 = mul i32 %was.4, 6
  %now.4 = add i32 %six.4, 4
  %old.6 = load i32, ptr %pc
  %three.6 = mul i32 %old.6, 3
  %new.6 = add i32 %three.6, %now.4
  store i32 %new.6, ptr %pc
  %bit = and i32 %x, 1
  %odd = icmp ne i32 %bit, 0
  br i1 %odd, label %do.odd, label %end

do.odd:
  %was.5 = load i32, ptr %pc
  %six.5 = mul i32 %was.5, 6
  %now.5 = add i32 %six.5, 5
  %old.7 = load i32, ptr %pc
  %three.7 = mul i32 %old.7, 3
  %new.7 = add i32 %three.7, %now.5
  store i32 %new.7, ptr %pc
  %pl = getelementptr i32, ptr %pa, i64 -1
  %w = load i32, ptr %pl
  %old.8 = load i32, ptr %pc
  %three.8 = mul i32 %old.8, 3
  %new.8 = add i32 %three.8, %w
  store i32 %new.8, ptr %pc
  br label %end

end:
  ret void
}
