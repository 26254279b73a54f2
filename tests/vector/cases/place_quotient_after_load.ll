; SPDX-License-Identifier: Apache-2.0
; A constant is stored where something was read before: nothing behind it may begin anew, or it would
; read the constant.
; run: nx=1,33,96,256 ny=1,3 n=70,100,1000
; arrays: a=4+8192 b=4 c=8

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %before = mul nuw nsw i32 %y, %nx
  %t = add nuw nsw i32 %before, %x
  %threads = mul nuw nsw i32 %nx, %ny
  %t.long = zext nneg i32 %t to i64
  %sums = zext nneg i32 %threads to i64
  %pc = getelementptr i32, ptr %c, i64 %t.long
  %ps = getelementptr i32, ptr %pc, i64 %sums
  %was = load i32, ptr %ps
  store i32 7, ptr %ps
  %row = udiv i32 %t, %n
  %first = mul i32 %row, %n
  %place = sub i32 %t, %first
  %next = add nuw nsw i32 %row, 1
  %below = mul i32 %next, %n
  %i = add i32 %below, %place
  %i.long = zext nneg i32 %i to i64
  %pa = getelementptr i32, ptr %a, i64 %i.long
  %va = load i32, ptr %pa
  %r = add i32 %va, %was
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %r
  store i32 %new, ptr %pc
  ret void
}
