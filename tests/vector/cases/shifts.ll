; SPDX-License-Identifier: Apache-2.0
; Shifts by constants, by what was loaded, and of the lane.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pa
  %k = load i32, ptr %pb
  %s1 = shl i32 %v, %k
  %s2 = lshr i32 %v, %k
  %s3 = ashr i32 %v, %k
  %s4 = shl i32 %x, 3
  %s5 = ashr i32 %x, 1
  %s6 = shl i32 1, %k
  %u = and i32 %n, 15
  %s7 = lshr i32 %v, %u
  %r1 = xor i32 %s1, %s2
  %r2 = add i32 %r1, %s3
  %r3 = xor i32 %r2, %s4
  %r4 = add i32 %r3, %s5
  %r5 = xor i32 %r4, %s6
  %r6 = add i32 %r5, %s7
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r6
  store i32 %new.1, ptr %pc
  ret void
}
