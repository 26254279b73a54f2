; SPDX-License-Identifier: Apache-2.0
; Division of the lane by a constant, and of the row.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %d = udiv i32 %x, 3
  %m = urem i32 %t, 5
  %e = udiv i32 %y, 2
  %s = add i32 %d, %m
  %r = add i32 %s, %e
  %q = sdiv i32 %r, -2
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %q
  store i32 %new.1, ptr %pc
  ret void
}
