; SPDX-License-Identifier: Apache-2.0
; Indices of 8 and 16 bits that wrap.
; arrays: a=0+256 b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %x8 = trunc i32 %x to i8
  %m8 = mul i8 %x8, 5
  %z8 = zext i8 %m8 to i64
  %p8 = getelementptr i8, ptr %a, i64 %z8
  %v8 = load i8, ptr %p8
  %s4 = trunc i32 %x to i4
  %e4 = sext i4 %s4 to i64
  %mid = getelementptr i8, ptr %a, i64 64
  %p4 = getelementptr i8, ptr %mid, i64 %e4
  %v4 = load i8, ptr %p4
  %g4 = getelementptr i8, ptr %mid, i4 %s4
  %w4 = load i8, ptr %g4
  %e = zext i8 %v8 to i32
  %f = zext i8 %v4 to i32
  %g = sext i8 %w4 to i32
  %f8 = shl i32 %f, 8
  %s = or i32 %e, %f8
  %r = add i32 %s, %g
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r
  store i32 %new.1, ptr %pc
  ret void
}
