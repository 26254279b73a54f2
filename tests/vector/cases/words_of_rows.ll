; SPDX-License-Identifier: Apache-2.0
; A row of a matrix for each thread, rows as long as n says; four words of it in each turn, of which
; the second is changed in between. What is stored is a row of another matrix.
; run: nx=1,7,16,33,96 ny=1,3 n=4,20
; arrays: a=80 b=4 c=80

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
entry:
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %first = mul nsw i32 %t, %n
  %first64 = sext i32 %first to i64
  %own = getelementptr i32, ptr %a, i64 %first64
  %other = getelementptr i32, ptr %c, i64 %first64
  br label %turn

turn:
  %j = phi i32 [ 0, %entry ], [ %next, %turn ]
  %sum = phi i32 [ 0, %entry ], [ %sum3, %turn ]
  %j64 = zext i32 %j to i64
  %p0 = getelementptr i32, ptr %own, i64 %j64
  %p1 = getelementptr i8, ptr %p0, i64 4
  %p2 = getelementptr i8, ptr %p0, i64 8
  %p3 = getelementptr i8, ptr %p0, i64 12
  %q0 = getelementptr i32, ptr %other, i64 %j64
  %q1 = getelementptr i8, ptr %q0, i64 4
  %q2 = getelementptr i8, ptr %q0, i64 8
  %q3 = getelementptr i8, ptr %q0, i64 12
  %v0 = load i32, ptr %p0, align 4
  %sum0 = add i32 %sum, %v0
  %v1 = load i32, ptr %p1, align 4
  store i32 %sum0, ptr %p1, align 4
  %v2 = load i32, ptr %p2, align 4
  %v3 = load i32, ptr %p3, align 4
  %sum1 = xor i32 %sum0, %v1
  %sum2 = add i32 %sum1, %v2
  %sum3 = xor i32 %sum2, %v3
  store i32 %sum0, ptr %q0, align 4
  store i32 %sum2, ptr %q2, align 4
  store i32 %sum3, ptr %q3, align 4
  store i32 %sum1, ptr %q1, align 4
  %next = add nuw nsw i32 %j, 4
  %more = icmp ult i32 %next, %n
  br i1 %more, label %turn, label %end

end:
  %t64 = sext i32 %t to i64
  %r = getelementptr i32, ptr %b, i64 %t64
  store i32 %sum, ptr %r, align 4
  ret void
}
