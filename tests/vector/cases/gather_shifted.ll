; SPDX-License-Identifier: Apache-2.0
; Each lane reads what the next one does, and what the one before does, in rows of its own: one
; gather for two loads, and what comes in at the ends.
; arrays: a=40+80 b=48+96 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %a.row = mul nsw i64 %i, 40
  %b.row = mul nsw i64 %i, 48
  %a0 = getelementptr i8, ptr %a, i64 %a.row
  %a1 = getelementptr i8, ptr %a0, i64 4
  %a2 = getelementptr i8, ptr %a0, i64 40
  %a3 = getelementptr i8, ptr %a0, i64 44
  %a4 = getelementptr i8, ptr %a0, i64 80
  %b0 = getelementptr i8, ptr %b, i64 %b.row
  %b1 = getelementptr i8, ptr %b0, i64 48
  %v0 = load i32, ptr %a0
  %v1 = load i32, ptr %a1
  %v3 = load i32, ptr %a3
  %v2 = load i32, ptr %a2
  %v4 = load i32, ptr %a4
  %w1 = load i64, ptr %b1
  %w0 = load i64, ptr %b0
  %s1 = mul i32 %v1, 3
  %s2 = mul i32 %v2, 5
  %s3 = mul i32 %v3, 7
  %s4 = mul i32 %v4, 11
  %m1 = mul i64 %w1, 13
  %m = add i64 %m1, %w0
  %m32 = trunc i64 %m to i32
  %x1 = xor i32 %v0, %s1
  %x2 = add i32 %x1, %s2
  %x3 = xor i32 %x2, %s3
  %x4 = add i32 %x3, %s4
  %x5 = add i32 %x4, %m32
  %q = getelementptr i32, ptr %c, i64 %i
  store i32 %x5, ptr %q
  ret void
}
