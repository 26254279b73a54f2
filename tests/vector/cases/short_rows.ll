; SPDX-License-Identifier: Apache-2.0
; Elements of rows that are a little longer than a vector, in which the place in the row is all that counts for a
; table: a vector lies in two rows, often. Nothing is in front of the table.
; run: nx=1,16,33,96 ny=1,3 n=all,half
; arrays: a=4 b=4+256 c=8+512

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
entry:
  %before = mul nuw nsw i32 %y, %nx
  %t = add nuw nsw i32 %before, %x
  %t.long = zext nneg i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %t.long
  %v = load i32, ptr %pa
  br label %on

on:
  %row = udiv i32 %t, 20
  %whole = mul nuw nsw i32 %row, 20
  %column = sub nuw nsw i32 %t, %whole
  %column.long = zext nneg i32 %column to i64
  %pb = getelementptr i32, ptr %b, i64 %column.long
  %w = load i32, ptr %pb
  %pitch = mul nuw nsw i32 %row, 27
  %place = add nuw nsw i32 %pitch, %column
  %place.long = zext nneg i32 %place to i64
  %pc = getelementptr i32, ptr %c, i64 %place.long
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %sum = add i32 %v, %w
  %new = add i32 %three, %sum
  store i32 %new, ptr %pc
  br label %end

end:
  ret void
}
