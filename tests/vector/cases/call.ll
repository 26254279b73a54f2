; SPDX-License-Identifier: Apache-2.0
; A function nobody knows, called for each lane.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pa
  %r = call i32 @outside(i32 %v)
  %s = call i32 @outside(i32 %x)
  %u = call i32 @outside(i32 %n)
  %r1 = add i32 %r, %s
  %r2 = xor i32 %r1, %u
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r2
  store i32 %new.1, ptr %pc
  ret void
}

declare i32 @outside(i32)
