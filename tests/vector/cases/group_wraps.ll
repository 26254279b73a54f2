; SPDX-License-Identifier: Apache-2.0
; Places wrap from the largest number to 0, where a quotient ends as well; what is accessed is what
; the division leaves.
; run: nx=1,7,33,96,256 n=3,17,40,100,1000
; nest: x
; arrays: a=0+4096 b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %place = add i32 %x, -20
  %row = udiv i32 %place, %n
  %column = urem i32 %place, %n
  %column.long = zext i32 %column to i64
  %own = zext nneg i32 %x to i64
  %pa = getelementptr i32, ptr %a, i64 %column.long
  %pc = getelementptr i32, ptr %c, i64 %own
  %va = load i32, ptr %pa
  %r = xor i32 %va, %row
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %r
  store i32 %new, ptr %pc
  ret void
}
