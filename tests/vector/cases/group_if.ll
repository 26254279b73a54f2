; SPDX-License-Identifier: Apache-2.0
; Some threads take their place apart, and go on with a loop of turns of their own; a value of theirs
; and one of the others meet behind.
; run: nx=1,7,33,96,256 n=3,17,40,100
; nest: x
; arrays: a=16+16384 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %own = zext nneg i32 %x to i64
  %pb = getelementptr i32, ptr %b, i64 %own
  %pc = getelementptr i32, ptr %c, i64 %own
  %vb = load i32, ptr %pb
  %is.some = icmp ugt i32 %vb, 2
  br i1 %is.some, label %apart, label %meet

apart:
  %row = udiv i32 %x, %n
  %column = urem i32 %x, %n
  %down = mul i32 %row, %n
  %start = shl i32 %row, 2
  %first = add i32 %down, %start
  %e = add i32 %first, %column
  br label %loop

loop:
  %k = phi i32 [ 0, %apart ], [ %k.next, %loop ]
  %sum = phi i32 [ %row, %apart ], [ %sum.next, %loop ]
  %at = add i32 %e, %k
  %at.long = zext i32 %at to i64
  %pa = getelementptr i32, ptr %a, i64 %at.long
  %va = load i32, ptr %pa
  %scaled = mul i32 %sum, 3
  %sum.next = add i32 %scaled, %va
  %k.next = add nuw nsw i32 %k, 1
  %more = icmp ult i32 %k.next, %vb
  br i1 %more, label %loop, label %out

out:
  %last = phi i32 [ %sum.next, %loop ]
  %is.small = icmp ult i32 %column, 5
  br i1 %is.small, label %meet, label %rest

rest:
  %other = xor i32 %last, %column
  br label %meet

meet:
  %value = phi i32 [ %vb, %0 ], [ %last, %out ], [ %other, %rest ]
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %value
  store i32 %new, ptr %pc
  ret void
}
