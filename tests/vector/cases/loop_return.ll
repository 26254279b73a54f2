; SPDX-License-Identifier: Apache-2.0
; A return in the middle of a loop; others store after it.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  br label %head

head:
  %k = phi i32 [ 0, %0 ], [ %k.next, %again ]
  %m = mul i32 %k, %v
  %stop = icmp eq i32 %m, 12
  br i1 %stop, label %leave, label %again

again:
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %m
  store i32 %new.1, ptr %pc
  %k.next = add i32 %k, 1
  %more = icmp ult i32 %k.next, 8
  br i1 %more, label %head, label %out

leave:
  ret void

out:
  %w = load i32, ptr %pa
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %w
  store i32 %new.2, ptr %pc
  ret void
}
