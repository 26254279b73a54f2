; SPDX-License-Identifier: Apache-2.0
; Each thread changes neighbouring words of a row of its own, and one of them twice.
; arrays: a=4 b=4+16 c=80

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %base = getelementptr [20 x i32], ptr %c, i64 %i
  %p0 = getelementptr i8, ptr %base, i64 4
  %pu0 = getelementptr i8, ptr %b, i64 0
  %u0 = load i32, ptr %pu0, align 4
  %o0 = load i32, ptr %p0, align 4
  %t0 = mul i32 %o0, 3
  %s0 = add i32 %t0, %u0
  store i32 %s0, ptr %p0, align 4
  %p1 = getelementptr i8, ptr %base, i64 8
  %pu1 = getelementptr i8, ptr %b, i64 4
  %u1 = load i32, ptr %pu1, align 4
  %o1 = load i32, ptr %p1, align 4
  %t1 = mul i32 %o1, 3
  %s1 = add i32 %t1, %u1
  store i32 %s1, ptr %p1, align 4
  %p2 = getelementptr i8, ptr %base, i64 12
  %pu2 = getelementptr i8, ptr %b, i64 0
  %u2 = load i32, ptr %pu2, align 4
  %o2 = load i32, ptr %p2, align 4
  %t2 = mul i32 %o2, 3
  %s2 = add i32 %t2, %u2
  store i32 %s2, ptr %p2, align 4
  %p3 = getelementptr i8, ptr %base, i64 16
  %pu3 = getelementptr i8, ptr %b, i64 4
  %u3 = load i32, ptr %pu3, align 4
  %o3 = load i32, ptr %p3, align 4
  %t3 = mul i32 %o3, 3
  %s3 = add i32 %t3, %u3
  store i32 %s3, ptr %p3, align 4
  %p4 = getelementptr i8, ptr %base, i64 24
  %pu4 = getelementptr i8, ptr %b, i64 0
  %u4 = load i32, ptr %pu4, align 4
  %o4 = load i32, ptr %p4, align 4
  %t4 = mul i32 %o4, 3
  %s4 = add i32 %t4, %u4
  store i32 %s4, ptr %p4, align 4
  %p5 = getelementptr i8, ptr %base, i64 8
  %pu5 = getelementptr i8, ptr %b, i64 4
  %u5 = load i32, ptr %pu5, align 4
  %o5 = load i32, ptr %p5, align 4
  %t5 = mul i32 %o5, 3
  %s5 = add i32 %t5, %u5
  store i32 %s5, ptr %p5, align 4
  %p6 = getelementptr i8, ptr %base, i64 12
  %pu6 = getelementptr i8, ptr %b, i64 0
  %u6 = load i32, ptr %pu6, align 4
  %o6 = load i32, ptr %p6, align 4
  %t6 = mul i32 %o6, 3
  %s6 = add i32 %t6, %u6
  store i32 %s6, ptr %p6, align 4
  %p7 = getelementptr i8, ptr %base, i64 32
  %pu7 = getelementptr i8, ptr %b, i64 4
  %u7 = load i32, ptr %pu7, align 4
  %o7 = load i32, ptr %p7, align 4
  %t7 = mul i32 %o7, 3
  %s7 = add i32 %t7, %u7
  store i32 %s7, ptr %p7, align 4
  %p8 = getelementptr i8, ptr %base, i64 44
  %pu8 = getelementptr i8, ptr %b, i64 0
  %u8 = load i32, ptr %pu8, align 4
  %o8 = load i32, ptr %p8, align 4
  %t8 = mul i32 %o8, 3
  %s8 = add i32 %t8, %u8
  store i32 %s8, ptr %p8, align 4
  %p9 = getelementptr i8, ptr %base, i64 40
  %pu9 = getelementptr i8, ptr %b, i64 4
  %u9 = load i32, ptr %pu9, align 4
  %o9 = load i32, ptr %p9, align 4
  %t9 = mul i32 %o9, 3
  %s9 = add i32 %t9, %u9
  store i32 %s9, ptr %p9, align 4
  %p10 = getelementptr i8, ptr %base, i64 36
  %pu10 = getelementptr i8, ptr %b, i64 0
  %u10 = load i32, ptr %pu10, align 4
  %o10 = load i32, ptr %p10, align 4
  %t10 = mul i32 %o10, 3
  %s10 = add i32 %t10, %u10
  store i32 %s10, ptr %p10, align 4
  ret void
}
