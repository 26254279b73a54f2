; SPDX-License-Identifier: Apache-2.0
; Fields of structures: some read, some written.
; arrays: a=12 b=4 c=12

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %p0 = getelementptr { float, i32, i16, i8 }, ptr %a, i64 %i, i32 0
  %p1 = getelementptr { float, i32, i16, i8 }, ptr %a, i64 %i, i32 1
  %p2 = getelementptr { float, i32, i16, i8 }, ptr %a, i64 %i, i32 2
  %p3 = getelementptr { float, i32, i16, i8 }, ptr %a, i64 %i, i32 3
  %v0 = load float, ptr %p0
  %v1 = load i32, ptr %p1
  %v2 = load i16, ptr %p2
  %v3 = load i8, ptr %p3
  %s2 = sext i16 %v2 to i32
  %s3 = zext i8 %v3 to i32
  %s = add i32 %s2, %s3
  %s1 = xor i32 %s, %v1
  %q0 = getelementptr { float, i32, i16, i8 }, ptr %c, i64 %i, i32 0
  %q1 = getelementptr { float, i32, i16, i8 }, ptr %c, i64 %i, i32 1
  %q3 = getelementptr { float, i32, i16, i8 }, ptr %c, i64 %i, i32 3
  store float %v0, ptr %q0
  store i32 %s1, ptr %q1
  store i8 %v3, ptr %q3
  ret void
}
