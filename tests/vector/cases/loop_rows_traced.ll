; SPDX-License-Identifier: Apache-2.0
; A loop whose trip count is the row's. Every block writes down that it ran.
; run: ny=1,2,3,4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %y3 = mul i32 %y, 3
  %few = and i32 %y3, 3
  br label %head

head:
  %k = phi i32 [ 0, %0 ], [ %k.next, %head ]
  %s = phi i32 [ %x, %0 ], [ %s.next, %head ]
  %was.1 = load i32, ptr %pc
  %six.1 = mul i32 %was.1, 6
  %now.1 = add i32 %six.1, 1
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %now.1
  store i32 %new.1, ptr %pc
  %w = load i32, ptr %pa
  %m = mul i32 %s, %w
  %s.next = add i32 %m, %k
  %k.next = add nuw nsw i32 %k, 1
  %more = icmp ule i32 %k.next, %few
  br i1 %more, label %head, label %out

out:
  %was.2 = load i32, ptr %pc
  %six.2 = mul i32 %was.2, 6
  %now.2 = add i32 %six.2, 2
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %now.2
  store i32 %new.2, ptr %pc
  %old.3 = load i32, ptr %pc
  %three.3 = mul i32 %old.3, 3
  %new.3 = add i32 %three.3, %s.next
  store i32 %new.3, ptr %pc
  ret void
}
