; SPDX-License-Identifier: Apache-2.0
; Each thread does every n-th element: the index may wrap, and lanes leave the loop in different iterations.
; arrays: a=16:small b=4 c=16

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul i32 %y, %nx
  %t = add i32 %row, %x
  %three.x = mul i32 %x, 3
  %group = lshr i32 %three.x, 3
  %place = add i32 %group, %y
  %few = and i32 %place, 3
  %times = add i32 %few, 1
  %limit = mul i32 %n, %times
  br label %loop

loop:
  %i = phi i32 [ %t, %0 ], [ %i.next, %loop ]
  %at = zext i32 %i to i64
  %pa = getelementptr i32, ptr %a, i64 %at
  %pc = getelementptr i32, ptr %c, i64 %at
  %v = load i32, ptr %pa
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %v
  store i32 %new, ptr %pc
  %i.next = add i32 %i, %n
  %more = icmp ult i32 %i.next, %limit
  br i1 %more, label %loop, label %out

out:
  ret void
}
