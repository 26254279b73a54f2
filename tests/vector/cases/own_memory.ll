; SPDX-License-Identifier: Apache-2.0
; A thread reads what it has written itself.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pa
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %v
  store i32 %new.1, ptr %pc
  %q = getelementptr i8, ptr %pc, i64 1
  store i8 7, ptr %q
  %w = load i32, ptr %pc
  %s = mul i32 %w, 3
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %s
  store i32 %new.2, ptr %pc
  %h = load i16, ptr %pc
  %h2 = add i16 %h, 1
  store i16 %h2, ptr %pc
  ret void
}
