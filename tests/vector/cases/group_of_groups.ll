; SPDX-License-Identifier: Apache-2.0
; What a division by one number leaves is divided by another, and quotients by a third: a tensor's
; place. Rows end within planes.
; run: nx=1,7,33,96,256 n=3,33,34,99,150
; nest: x
; arrays: a=16+16384 b=4+4096 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %plane = udiv i32 %x, %n
  %in.plane = urem i32 %x, %n
  %row = udiv i32 %in.plane, 33
  %column = urem i32 %in.plane, 33
  %part = urem i32 %plane, %nx
  %whole = udiv i32 %plane, %nx
  %far = mul i32 %plane, 20
  %down = mul i32 %row, 37
  %start = add i32 %far, %down
  %e = add i32 %start, %column
  %e.long = zext i32 %e to i64
  %pa = getelementptr i32, ptr %a, i64 %e.long
  %part.long = zext i32 %part to i64
  %pb = getelementptr i32, ptr %b, i64 %part.long
  %own = zext nneg i32 %x to i64
  %pc = getelementptr i32, ptr %c, i64 %own
  %va = load i32, ptr %pa
  %vb = load i32, ptr %pb
  %mixed = mul i32 %va, %vb
  %r = add i32 %mixed, %whole
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %r
  store i32 %new, ptr %pc
  ret void
}
