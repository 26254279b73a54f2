; SPDX-License-Identifier: Apache-2.0
; A divergent loop that depends on the column alone, and one that depends on the row. Every block writes down that it ran.
; run: ny=1,2,3,4,8
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %x64 = zext i32 %x to i64
  %px = getelementptr i32, ptr %b, i64 %x64
  %vx = load i32, ptr %px
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
  %s3 = mul i32 %s, 3
  %s.next = add i32 %s3, %vx
  %k.next = add i32 %k, 1
  %more = icmp ule i32 %k.next, %vx
  br i1 %more, label %head, label %mid

mid:
  %was.2 = load i32, ptr %pc
  %six.2 = mul i32 %was.2, 6
  %now.2 = add i32 %six.2, 2
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %now.2
  store i32 %new.2, ptr %pc
  %y64 = zext i32 %y to i64
  %py = getelementptr i32, ptr %b, i64 %y64
  %vy = load i32, ptr %py
  br label %head2

head2:
  %j = phi i32 [ 0, %mid ], [ %j.next, %head2 ]
  %r = phi i32 [ %y, %mid ], [ %r.next, %head2 ]
  %was.3 = load i32, ptr %pc
  %six.3 = mul i32 %was.3, 6
  %now.3 = add i32 %six.3, 3
  %old.3 = load i32, ptr %pc
  %three.3 = mul i32 %old.3, 3
  %new.3 = add i32 %three.3, %now.3
  store i32 %new.3, ptr %pc
  %r5 = mul i32 %r, 5
  %r.next = add i32 %r5, %j
  %j.next = add i32 %j, 1
  %more2 = icmp ule i32 %j.next, %vy
  br i1 %more2, label %head2, label %out

out:
  %was.4 = load i32, ptr %pc
  %six.4 = mul i32 %was.4, 6
  %now.4 = add i32 %six.4, 4
  %old.4 = load i32, ptr %pc
  %three.4 = mul i32 %old.4, 3
  %new.4 = add i32 %three.4, %now.4
  store i32 %new.4, ptr %pc
  %m = xor i32 %s.next, %r.next
  %old.5 = load i32, ptr %pc
  %three.5 = mul i32 %old.5, 3
  %new.5 = add i32 %three.5, %m
  store i32 %new.5, ptr %pc
  ret void
}
