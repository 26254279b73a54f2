; SPDX-License-Identifier: Apache-2.0
; One address for all, one for each row.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %u = load i32, ptr %a
  %y64 = zext i32 %y to i64
  %py = getelementptr i32, ptr %b, i64 %y64
  %w = load i32, ptr %py
  %s = add i32 %u, %w
  %r = add i32 %s, %x
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r
  store i32 %new.1, ptr %pc
  ret void
}
