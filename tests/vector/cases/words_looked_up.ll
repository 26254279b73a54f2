; SPDX-License-Identifier: Apache-2.0
; Structures of 16 bytes that are looked up: three of their words, or the first and the last of two
; of 8 bytes. The structures are aligned, so that the words between may be loaded, too, but nothing
; is written there.
; arrays: a=4:small b=16:bits c=16+256

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %t64 = sext i32 %t to i64
  %p = getelementptr i32, ptr %a, i64 %t64
  %number = load i32, ptr %p, align 4
  %some = and i32 %number, 15
  %count = mul nsw i32 %nx, %ny
  %at = urem i32 %some, %count
  %at64 = zext i32 %at to i64
  %s = getelementptr [4 x i32], ptr %b, i64 %at64
  %s1 = getelementptr i8, ptr %s, i64 4
  %s3 = getelementptr i8, ptr %s, i64 12
  %v3 = load i32, ptr %s3, align 4
  %v0 = load i32, ptr %s, align 16
  %v1 = load i32, ptr %s1, align 4
  %whole = getelementptr [2 x i64], ptr %b, i64 %at64
  %upper = getelementptr i8, ptr %whole, i64 8
  %w0 = load i64, ptr %whole, align 8
  %w1 = load i64, ptr %upper, align 8
  %w = xor i64 %w0, %w1
  %sum = add i32 %v0, %v1
  %mixed = xor i32 %sum, %v3
  %mixed64 = zext i32 %mixed to i64
  %r = add i64 %w, %mixed64
  %q = getelementptr [2 x i64], ptr %c, i64 %t64
  %q1 = getelementptr i8, ptr %q, i64 8
  store i64 %r, ptr %q, align 8
  store i64 %w1, ptr %q1, align 8
  ret void
}
