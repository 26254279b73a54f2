; SPDX-License-Identifier: Apache-2.0
; Rows leave a loop apart, and some return from it.
; run: ny=1,2,3,4,8
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  br label %head

head:
  %k = phi i32 [ 0, %0 ], [ %k.next, %again ]
  %m = mul i32 %k, %y
  %m.1 = add i32 %m, 1
  %pair = and i32 %m.1, -2
  %stop = icmp eq i32 %pair, 4
  br i1 %stop, label %leave, label %again

again:
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %m
  store i32 %new.1, ptr %pc
  %k.next = add i32 %k, 1
  %more = icmp ult i32 %k.next, 5
  br i1 %more, label %head, label %out

leave:
  ret void

out:
  %s = add i32 %m, %v
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %s
  store i32 %new.2, ptr %pc
  ret void
}
