; SPDX-License-Identifier: Apache-2.0
; A flat index is taken apart into a row and a column, and leads to neighbours in rows that are
; further apart: a vector of threads lies in one row, in two, or in many short ones.
; run: nx=1,7,16,33,96,256 n=1,3,5,8,16,17,40,64,100,1000
; nest: x
; arrays: a=16+8192 b=4+4096 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = udiv i32 %x, %n
  %column = urem i32 %x, %n
  %down = mul i32 %row, 3
  %before = mul i32 %row, %n
  %start = add i32 %before, %down
  %i = add i32 %start, %column
  %i.long = zext i32 %i to i64
  %row.long = zext i32 %row to i64
  %own = zext nneg i32 %x to i64
  %pa = getelementptr i32, ptr %a, i64 %i.long
  %pb = getelementptr i32, ptr %b, i64 %row.long
  %pc = getelementptr i32, ptr %c, i64 %own
  %vb = load i32, ptr %pb
  %old.a = load i32, ptr %pa
  %five = mul i32 %old.a, 5
  %new.a = add i32 %five, %vb
  store i32 %new.a, ptr %pa
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %new.a
  store i32 %new, ptr %pc
  ret void
}
