; SPDX-License-Identifier: Apache-2.0
; Accesses of i64, contiguous, with a stride and gathered.
; arrays: a=16+64 b=4 c=8

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i64, ptr %a, i64 %i
  %pc = getelementptr i64, ptr %c, i64 %i
  %v = load i64, ptr %pa
  %pn = getelementptr i32, ptr %b, i64 %i
  %n1 = load i32, ptr %pn
  %k = and i32 %n1, 7
  %k64 = zext i32 %k to i64
  %pg = getelementptr i64, ptr %a, i64 %k64
  %g = load i64, ptr %pg
  %i2 = shl i64 %i, 1
  %ps = getelementptr i64, ptr %a, i64 %i2
  %s = load i64, ptr %ps
  %m = mul i64 %v, 5
  %m2 = add i64 %m, %g
  %m3 = xor i64 %m2, %s
  store i64 %m3, ptr %pc
  ret void
}
