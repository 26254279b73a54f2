; SPDX-License-Identifier: Apache-2.0
; Accesses of i8, contiguous, with a stride and gathered.
; arrays: a=2+64 b=4 c=1

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i8, ptr %a, i64 %i
  %pc = getelementptr i8, ptr %c, i64 %i
  %v = load i8, ptr %pa
  %pn = getelementptr i32, ptr %b, i64 %i
  %n1 = load i32, ptr %pn
  %k = and i32 %n1, 7
  %k64 = zext i32 %k to i64
  %pg = getelementptr i8, ptr %a, i64 %k64
  %g = load i8, ptr %pg
  %i2 = shl i64 %i, 1
  %ps = getelementptr i8, ptr %a, i64 %i2
  %s = load i8, ptr %ps
  %m = mul i8 %v, 5
  %m2 = add i8 %m, %g
  %m3 = xor i8 %m2, %s
  store i8 %m3, ptr %pc
  ret void
}
