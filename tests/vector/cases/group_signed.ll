; SPDX-License-Identifier: Apache-2.0
; Signed places, the first of them below 0, are divided as PTX does, which takes -1 apart; what the
; division leaves, moved to where it is not negative, leads to an element.
; run: nx=1,7,16,33,96,256 n=1,2,5,16,17,40,100
; nest: x
; arrays: a=0+4096 b=4+4096 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %place = add nsw i32 %x, -50
  %is.minus = icmp eq i32 %n, -1
  %negative = sub i32 0, %place
  %quotient = sdiv i32 %place, %n
  %row = select i1 %is.minus, i32 %negative, i32 %quotient
  %rest = srem i32 %place, %n
  %column = select i1 %is.minus, i32 0, i32 %rest
  %i = add i32 %column, %n
  %i.long = zext i32 %i to i64
  %pa = getelementptr i32, ptr %a, i64 %i.long
  %up = add i32 %row, 50
  %up.long = zext i32 %up to i64
  %pb = getelementptr i32, ptr %b, i64 %up.long
  %own = zext nneg i32 %x to i64
  %pc = getelementptr i32, ptr %c, i64 %own
  %va = load i32, ptr %pa
  %vb = load i32, ptr %pb
  %mixed = mul i32 %va, %vb
  %r = add i32 %mixed, %row
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %r
  store i32 %new, ptr %pc
  ret void
}
