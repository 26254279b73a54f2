; SPDX-License-Identifier: Apache-2.0
; Neighbouring numbers of 64 bits in rows that follow each other downwards, in a loop; odd threads do less.
; arrays: a=4 b=4+16 c=96

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %at = sext i32 %t to i64
  %all = mul nsw i32 %ny, %nx
  %end = sext i32 %all to i64
  %last = sub nsw i64 %end, 1
  %i = sub nsw i64 %last, %at
  %base = getelementptr [12 x i64], ptr %c, i64 %i
  %odd = and i32 %x, 1
  %is.odd = icmp ne i32 %odd, 0
  br label %loop

loop:
  %k = phi i64 [ 0, %0 ], [ %k.next, %loop ]
  %here = getelementptr [2 x i64], ptr %base, i64 %k
  %p0 = getelementptr i8, ptr %here, i64 0
  %pu0 = getelementptr i8, ptr %b, i64 0
  %u0 = load i64, ptr %pu0, align 4
  %o0 = load i64, ptr %p0, align 8
  %t0 = mul i64 %o0, 3
  %s0 = add i64 %t0, %u0
  store i64 %s0, ptr %p0, align 8
  %p1 = getelementptr i8, ptr %here, i64 8
  %pu1 = getelementptr i8, ptr %b, i64 0
  %u1 = load i64, ptr %pu1, align 4
  %o1 = load i64, ptr %p1, align 8
  %t1 = mul i64 %o1, 3
  %s1 = add i64 %t1, %u1
  store i64 %s1, ptr %p1, align 8
  %k.next = add nuw nsw i64 %k, 1
  %more = icmp ult i64 %k.next, 4
  br i1 %more, label %loop, label %behind

behind:
  br i1 %is.odd, label %out, label %rest

rest:
  %p2 = getelementptr i8, ptr %base, i64 72
  %pu2 = getelementptr i8, ptr %b, i64 0
  %u2 = load i64, ptr %pu2, align 4
  %o2 = load i64, ptr %p2, align 8
  %t2 = mul i64 %o2, 3
  %s2 = add i64 %t2, %u2
  store i64 %s2, ptr %p2, align 8
  %p3 = getelementptr i8, ptr %base, i64 64
  %pu3 = getelementptr i8, ptr %b, i64 0
  %u3 = load i64, ptr %pu3, align 4
  %o3 = load i64, ptr %p3, align 8
  %t3 = mul i64 %o3, 3
  %s3 = add i64 %t3, %u3
  store i64 %s3, ptr %p3, align 8
  br label %out

out:
  ret void
}
