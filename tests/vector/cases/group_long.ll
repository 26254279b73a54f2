; SPDX-License-Identifier: Apache-2.0
; Places of 64 bits in steps of two are taken apart into rows and planes by two divisions of one
; place, and by a shift.
; run: nx=1,7,33,96,256 n=3,17,40,100,300
; nest: x
; arrays: a=16+16384 b=8+4096 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %own = zext nneg i32 %x to i64
  %place = shl nuw nsw i64 %own, 1
  %planes = zext i32 %n to i64
  %rows = zext i32 %nx to i64
  %plane = udiv i64 %place, %planes
  %row = udiv i64 %place, %rows
  %group = lshr i64 %place, 6
  %in.plane = mul i64 %plane, %planes
  %column = sub i64 %place, %in.plane
  %down = mul i64 %plane, 20
  %e = add i64 %down, %column
  %pa = getelementptr i32, ptr %a, i64 %e
  %pb = getelementptr i32, ptr %b, i64 %group
  %pc = getelementptr i32, ptr %c, i64 %own
  %va = load i32, ptr %pa
  %vb = load i32, ptr %pb
  %row.short = trunc i64 %row to i32
  %mixed = mul i32 %va, %vb
  %r = add i32 %mixed, %row.short
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %r
  store i32 %new, ptr %pc
  ret void
}
