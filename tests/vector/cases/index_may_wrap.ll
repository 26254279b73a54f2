; SPDX-License-Identifier: Apache-2.0
; Nothing says that the 32-bit index does not wrap along the row: neighbours are accessed after a check.
; Signed and unsigned, words of different sizes.
; arrays: a=4:f32 b=8 c=1

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul i32 %y, %nx
  %t = add i32 %row, %x
  %i = sext i32 %t to i64
  %u = zext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i64, ptr %b, i64 %u
  %pc = getelementptr i8, ptr %c, i64 %u
  %v = load i32, ptr %pa
  %w = load i64, ptr %pb
  %wide = zext i32 %v to i64
  %three = mul i64 %w, 3
  %new = add i64 %three, %wide
  store i64 %new, ptr %pb
  %old = load i8, ptr %pc
  %small = trunc i64 %new to i8
  %three.small = mul i8 %old, 3
  %new.small = add i8 %three.small, %small
  store i8 %new.small, ptr %pc
  ret void
}
