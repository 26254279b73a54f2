; SPDX-License-Identifier: Apache-2.0
; One row of threads that is taken for rows of 32: a quotient and a remainder lead to what is
; loaded, which lies further apart from row to row, and to what is stored.
; run: nx=7,32,64,96,256
; nest: x
; arrays: a=64+4096 b=4+4096 c=64+4096

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = lshr i32 %x, 5
  %place = and i32 %x, 31
  %down = mul nuw nsw i32 %row, 40
  %i = add nuw nsw i32 %down, %place
  %i.long = zext nneg i32 %i to i64
  %row.long = zext nneg i32 %row to i64
  %pa = getelementptr i32, ptr %a, i64 %i.long
  %pb = getelementptr i32, ptr %b, i64 %row.long
  %pc = getelementptr i32, ptr %c, i64 %i.long
  %va = load i32, ptr %pa
  %vb = load i32, ptr %pb
  %r = mul i32 %va, %vb
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %r
  store i32 %new, ptr %pc
  ret void
}
