; SPDX-License-Identifier: Apache-2.0
; Loads from where loaded numbers say, of several types.
; arrays: a=0+128 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %v64 = zext i32 %v to i64
  %p = getelementptr i32, ptr %a, i64 %v64
  %w = load i32, ptr %p
  %p8 = getelementptr i8, ptr %a, i64 %v64
  %w8 = load i8, ptr %p8
  %pd = getelementptr i64, ptr %a, i64 %v64
  %wd = load i64, ptr %pd
  %s8 = sext i8 %w8 to i32
  %sd = trunc i64 %wd to i32
  %s = add i32 %w, %s8
  %s2 = xor i32 %s, %sd
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %s2
  store i32 %new.1, ptr %pc
  ret void
}
