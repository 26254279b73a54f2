; SPDX-License-Identifier: Apache-2.0
; The number of a block's thread, 16 * y + x, is taken for rows of 64.
; run: nx=16,37 ny=4,12
; arrays: a=32+8192 b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %rows = mul nuw nsw i32 %y, %nx
  %t = add nuw nsw i32 %rows, %x
  %before = shl nuw nsw i32 %y, 4
  %in = and i32 %x, 15
  %number = or disjoint i32 %before, %in
  %row = lshr i32 %number, 6
  %place = and i32 %number, 63
  %down = mul nuw nsw i32 %row, 80
  %i = add nuw nsw i32 %down, %place
  %i.long = zext nneg i32 %i to i64
  %t.long = zext nneg i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i.long
  %pc = getelementptr i32, ptr %c, i64 %t.long
  %va = load i32, ptr %pa
  %r = add i32 %va, %row
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %r
  store i32 %new, ptr %pc
  ret void
}
