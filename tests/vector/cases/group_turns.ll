; SPDX-License-Identifier: Apache-2.0
; Each turn takes another place apart, by which lanes go on group by group; sums go from turn to
; turn, and lanes leave the loop in different turns.
; run: nx=1,7,33,96,256 n=1,3,16,17,40,100
; nest: x
; arrays: a=16+16384 b=16+16384 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %own = zext nneg i32 %x to i64
  %pc = getelementptr i32, ptr %c, i64 %own
  %end = mul i32 %nx, 3
  br label %turn

turn:
  %i = phi i32 [ %x, %0 ], [ %i.next, %turn ]
  %sum = phi i32 [ %x, %0 ], [ %sum.next, %turn ]
  %row = udiv i32 %i, %n
  %before = mul i32 %row, %n
  %column = sub i32 %i, %before
  %down = mul i32 %row, 3
  %start = add i32 %before, %down
  %e = add i32 %start, %column
  %e.long = zext i32 %e to i64
  %pa = getelementptr i32, ptr %a, i64 %e.long
  %row.long = zext i32 %row to i64
  %pb = getelementptr i32, ptr %b, i64 %row.long
  %vb = load i32, ptr %pb
  %old = load i32, ptr %pa
  %three = mul i32 %old, 3
  %new = add i32 %three, %vb
  store i32 %new, ptr %pa
  %scaled = mul i32 %sum, 5
  %sum.next = add i32 %scaled, %new
  %i.next = add i32 %i, %nx
  %more = icmp ult i32 %i.next, %end
  %is.odd = trunc i32 %old to i1
  %again = and i1 %more, %is.odd
  br i1 %again, label %turn, label %done

done:
  %before.c = load i32, ptr %pc
  %seven = mul i32 %before.c, 7
  %after = add i32 %seven, %sum.next
  store i32 %after, ptr %pc
  ret void
}
