; SPDX-License-Identifier: Apache-2.0
; A loop that all threads leave together, after a number of iterations given.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  br label %head

head:
  %k = phi i32 [ 0, %0 ], [ %k.next, %head ]
  %sum = phi i32 [ %x, %0 ], [ %sum.next, %head ]
  %k64 = zext i32 %k to i64
  %p = getelementptr i32, ptr %b, i64 %k64
  %w = load i32, ptr %p
  %v = load i32, ptr %pa
  %m = mul i32 %w, %v
  %sum.next = add i32 %sum, %m
  %k.next = add nuw nsw i32 %k, 1
  %more = icmp ult i32 %k.next, %nx
  br i1 %more, label %head, label %out

out:
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %sum.next
  store i32 %new.1, ptr %pc
  ret void
}
