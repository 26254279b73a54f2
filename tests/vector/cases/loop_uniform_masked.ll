; SPDX-License-Identifier: Apache-2.0
; A loop with a number of iterations all agree on, that only some lanes enter.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %c0 = icmp ugt i32 %v, 9
  br i1 %c0, label %head, label %end

head:
  %k = phi i32 [ 0, %0 ], [ %k.next, %head ]
  %s = phi i32 [ %v, %0 ], [ %s.next, %head ]
  %k64 = sext i32 %k to i64
  %p = getelementptr i32, ptr %a, i64 %k64
  %w = load i32, ptr %p
  %d = udiv i32 %w, %v
  %s.next = add i32 %s, %d
  %k.next = add nsw i32 %k, 1
  %more = icmp slt i32 %k.next, %ny
  br i1 %more, label %head, label %out

out:
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %s.next
  store i32 %new.1, ptr %pc
  br label %end

end:
  ret void
}
