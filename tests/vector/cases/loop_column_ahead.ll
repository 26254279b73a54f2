; SPDX-License-Identifier: Apache-2.0
; A column of a matrix, which all rows load in each iteration: what comes later is asked for, also
; beyond the array's end. One address is made from a narrow index, the other one goes on by itself.
; run: nx=16,33,64 ny=4,8,9 n=row
; arrays: a=4:small b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %own = getelementptr i32, ptr %c, i64 %i
  %x64 = zext nneg i32 %x to i64
  %first = getelementptr i32, ptr %b, i64 %x64
  %pitch = sext i32 %nx to i64
  %step = shl nsw i64 %pitch, 2
  br label %loop

loop:
  %k = phi i32 [ 0, %0 ], [ %k.next, %loop ]
  %pb = phi ptr [ %first, %0 ], [ %pb.next, %loop ]
  %sum = phi i32 [ 0, %0 ], [ %sum.next, %loop ]
  %from = mul nsw i32 %k, %nx
  %at = add nsw i32 %from, %x
  %at64 = sext i32 %at to i64
  %pa = getelementptr i32, ptr %a, i64 %at64
  %va = load i32, ptr %pa
  %vb = load i32, ptr %pb
  %product = mul i32 %va, %vb
  %row.part = mul i32 %product, %row
  %some = add i32 %row.part, %vb
  %sum.3 = mul i32 %sum, 3
  %sum.next = add i32 %sum.3, %some
  %pb.next = getelementptr i8, ptr %pb, i64 %step
  %k.next = add nuw nsw i32 %k, 1
  %more = icmp ne i32 %k.next, %ny
  br i1 %more, label %loop, label %out

out:
  %old = load i32, ptr %own
  %three = mul i32 %old, 3
  %new = add i32 %three, %sum.next
  store i32 %new, ptr %own
  ret void
}
