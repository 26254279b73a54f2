; SPDX-License-Identifier: Apache-2.0
; The row of a matrix is a quotient of the thread's place, the place in it what that leaves: threads
; of one row access neighbours, in rows above and below as well.
; run: nx=1,33,96,256 ny=1,3 n=70,100,1000
; arrays: a=4+8192 b=4+8192 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %before = mul nuw nsw i32 %y, %nx
  %t = add nuw nsw i32 %before, %x
  %row = udiv i32 %t, %n
  %first = mul i32 %row, %n
  %place = sub i32 %t, %first
  %next = add nuw nsw i32 %row, 1
  %below = mul i32 %next, %n
  %i = add i32 %below, %place
  %i.long = zext nneg i32 %i to i64
  %row.long = zext nneg i32 %row to i64
  %t.long = zext nneg i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i.long
  %pb = getelementptr i32, ptr %b, i64 %row.long
  %pc = getelementptr i32, ptr %c, i64 %t.long
  %va = load i32, ptr %pa
  %vb = load i32, ptr %pb
  %is.left = icmp eq i32 %place, 0
  %scaled = mul i32 %va, %vb
  %r = select i1 %is.left, i32 %vb, i32 %scaled
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %r
  store i32 %new, ptr %pc
  ret void
}
