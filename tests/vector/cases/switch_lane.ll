; SPDX-License-Identifier: Apache-2.0
; A switch on the lane, in a loop.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  br label %head

head:
  %k = phi i32 [ 0, %0 ], [ %k.next, %again ]
  %sum = phi i32 [ 0, %0 ], [ %sum.next, %again ]
  %m = add i32 %x, %k
  %m3 = and i32 %m, 3
  switch i32 %m3, label %again [
    i32 0, label %zero
    i32 2, label %two
  ]

zero:
  %w = load i32, ptr %pa
  %z = add i32 %sum, %w
  br label %again

two:
  %z2 = shl i32 %sum, 1
  br label %again

again:
  %sum.next = phi i32 [ %sum, %head ], [ %z, %zero ], [ %z2, %two ]
  %k.next = add i32 %k, 1
  %more = icmp ult i32 %k.next, 6
  br i1 %more, label %head, label %out

out:
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %sum.next
  store i32 %new.1, ptr %pc
  ret void
}
