; SPDX-License-Identifier: Apache-2.0
; Each lane runs as often as its number says, and stores each time.
; arrays: a=4 b=4:small c=64

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %n.own = load i32, ptr %pb
  br label %head

head:
  %k = phi i32 [ 0, %0 ], [ %k.next, %body ]
  %more = icmp ult i32 %k, %n.own
  br i1 %more, label %body, label %out

body:
  %i16 = shl i64 %i, 4
  %k64 = zext i32 %k to i64
  %at = add i64 %i16, %k64
  %p = getelementptr i32, ptr %c, i64 %at
  %s = mul i32 %k, %x
  store i32 %s, ptr %p
  %k.next = add nuw nsw i32 %k, 1
  br label %head

out:
  ret void
}
