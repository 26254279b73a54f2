; SPDX-License-Identifier: Apache-2.0
; Integers from every width to every other.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pa
  %t8 = trunc i32 %v to i8
  %t16 = trunc i32 %v to i16
  %s8 = sext i8 %t8 to i64
  %z8 = zext i8 %t8 to i16
  %s16 = sext i16 %t16 to i32
  %z16 = zext i16 %t16 to i64
  %x8 = trunc i32 %x to i8
  %xs = sext i8 %x8 to i32
  %xz = zext i8 %x8 to i32
  %m1 = mul i64 %s8, %z16
  %m2 = trunc i64 %m1 to i32
  %z8w = sext i16 %z8 to i32
  %r1 = add i32 %m2, %z8w
  %r2 = xor i32 %r1, %s16
  %r3 = add i32 %r2, %xs
  %r4 = xor i32 %r3, %xz
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r4
  store i32 %new.1, ptr %pc
  ret void
}
