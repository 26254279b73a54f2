; SPDX-License-Identifier: Apache-2.0
; Threads go on by 128 places at a time, and take each place apart; another number has the row's
; first place before it.
; run: nx=32,37,96,128
; nest: x
; arrays: a=0+5088 b=0+4096 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %first = shl i32 %n, 7
  %of.all = or i32 %first, %x
  %low = and i32 %of.all, 1023
  %low.long = zext nneg i32 %low to i64
  %pb = getelementptr i32, ptr %b, i64 %low.long
  %vb = load i32, ptr %pb
  %own = zext nneg i32 %x to i64
  %pc = getelementptr i32, ptr %c, i64 %own
  br label %loop
loop:
  %i = phi i32 [ %x, %0 ], [ %i.next, %loop ]
  %turn = phi i32 [ 0, %0 ], [ %turn.next, %loop ]
  %sum = phi i32 [ %vb, %0 ], [ %sum.next, %loop ]
  %row = lshr i32 %i, 5
  %place = and i32 %i, 31
  %down = mul nuw nsw i32 %row, 40
  %e = add nuw nsw i32 %down, %place
  %e.long = zext nneg i32 %e to i64
  %pa = getelementptr i32, ptr %a, i64 %e.long
  %va = load i32, ptr %pa
  %scaled = mul i32 %sum, 3
  %more = add i32 %va, %row
  %sum.next = add i32 %scaled, %more
  %i.next = add i32 %i, 128
  %turn.next = add nuw nsw i32 %turn, 1
  %again = icmp ult i32 %turn.next, 8
  br i1 %again, label %loop, label %done
done:
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %sum.next
  store i32 %new, ptr %pc
  ret void
}
