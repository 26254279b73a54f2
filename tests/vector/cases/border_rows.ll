; SPDX-License-Identifier: Apache-2.0
; Elements of a rectangle, in turns; their rows lie farther apart than they are long. The place is made of the
; row, which is a quotient, and of what that leaves; then it moves down a column.
; run: nx=1,33,96 ny=1,2 n=7,64,100
; arrays: a=4+4096 b=4+4096 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
entry:
  %before = mul nuw nsw i32 %y, %nx
  %t = add nuw nsw i32 %before, %x
  %pitch = add nuw nsw i32 %n, 3
  %pitch.long = zext nneg i32 %pitch to i64
  br label %turn

turn:
  %e = phi i32 [ %x, %entry ], [ %e.next, %next ]
  %sum = phi i32 [ 0, %entry ], [ %sum.next, %next ]
  %row = sdiv i32 %e, %n
  %whole = mul nsw i32 %row, %n
  %column = sub nsw i32 %e, %whole
  %first = mul nsw i32 %row, %pitch
  %place = add nsw i32 %first, %column
  %place.long = zext nneg i32 %place to i64
  %start = getelementptr i32, ptr %a, i64 %place.long
  br label %down

down:
  %p = phi ptr [ %start, %turn ], [ %p.next, %down ]
  %k = phi i32 [ 0, %turn ], [ %k.next, %down ]
  %s = phi i32 [ %sum, %turn ], [ %s.next, %down ]
  %v = load i32, ptr %p
  %s3 = mul i32 %s, 3
  %s.next = add i32 %s3, %v
  %step = shl nuw nsw i64 %pitch.long, 2
  %p.next = getelementptr i8, ptr %p, i64 %step
  %k.next = add nuw nsw i32 %k, 1
  %more = icmp ult i32 %k.next, 3
  br i1 %more, label %down, label %next

next:
  %pb = getelementptr i32, ptr %b, i64 %place.long
  %w = load i32, ptr %pb
  %sum.next = add i32 %s.next, %w
  %e.next = add nuw nsw i32 %e, 96
  %again = icmp ult i32 %e.next, 288
  br i1 %again, label %turn, label %end

end:
  %t.long = zext nneg i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %t.long
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %sum.next
  store i32 %new, ptr %pc
  ret void
}
