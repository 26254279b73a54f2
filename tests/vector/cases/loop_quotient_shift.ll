; SPDX-License-Identifier: Apache-2.0
; Turns from a shifted place, the same in 64 threads, and some turns more for all. The threads of a
; vector often have different ones.
; run: nx=1,7,16,33,96,150 ny=1,3 n=1

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pa
  %from = add nuw nsw i32 %t, 37
  %quotient = lshr i32 %from, 6
  %turns = add nuw nsw i32 %quotient, 2
  br label %head

head:
  %k = phi i32 [ 0, %0 ], [ %k.next, %head ]
  %sum = phi i32 [ %v, %0 ], [ %sum.next, %head ]
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %sum
  store i32 %new, ptr %pc
  %sum.next = add i32 %sum, %k
  %k.next = add nuw nsw i32 %k, 1
  %on = icmp ult i32 %k.next, %turns
  br i1 %on, label %head, label %out

out:
  %last = phi i32 [ %sum.next, %head ]
  %before = load i32, ptr %pc
  %five = mul i32 %before, 5
  %after = add i32 %five, %last
  store i32 %after, ptr %pc
  ret void
}
