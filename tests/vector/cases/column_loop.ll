; SPDX-License-Identifier: Apache-2.0
; A divergent loop that depends on the column alone, and one that depends on the row.
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
  %s3 = mul i32 %s, 3
  %s.next = add i32 %s3, %vx
  %k.next = add i32 %k, 1
  %more = icmp ule i32 %k.next, %vx
  br i1 %more, label %head, label %mid

mid:
  %y64 = zext i32 %y to i64
  %py = getelementptr i32, ptr %b, i64 %y64
  %vy = load i32, ptr %py
  br label %head2

head2:
  %j = phi i32 [ 0, %mid ], [ %j.next, %head2 ]
  %r = phi i32 [ %y, %mid ], [ %r.next, %head2 ]
  %r5 = mul i32 %r, 5
  %r.next = add i32 %r5, %j
  %j.next = add i32 %j, 1
  %more2 = icmp ule i32 %j.next, %vy
  br i1 %more2, label %head2, label %out

out:
  %m = xor i32 %s.next, %r.next
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %m
  store i32 %new.1, ptr %pc
  ret void
}
