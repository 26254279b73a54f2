; SPDX-License-Identifier: Apache-2.0
; Calls in a loop that lanes leave apart.
; arrays: a=4 b=4:small c=4+4

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
  %s = phi i32 [ %x, %0 ], [ %s.next, %again ]
  %more = icmp ult i32 %k, %v
  br i1 %more, label %again, label %out

again:
  call void @outside_add(ptr %c, i32 %k)
  %s.next = call i32 @outside(i32 %s)
  %k.next = add i32 %k, 1
  br label %head

out:
  %q = getelementptr i32, ptr %pc, i64 1
  store i32 %s, ptr %q
  ret void
}

declare void @outside_add(ptr, i32)
declare i32 @outside(i32)
