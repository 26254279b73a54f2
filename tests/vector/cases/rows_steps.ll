; SPDX-License-Identifier: Apache-2.0
; What grows from row to row: by a constant, by a number that is not known, as addresses, and what
; wraps on the way and is extended then.
; run: ny=1,2,3,4,8 n=1,2,3
; arrays: a=8+64 b=8+64 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nuw nsw i32 %y, %nx
  %t = add nuw nsw i32 %row, %x
  %t2 = shl nuw nsw i32 %t, 1
  %t3 = or disjoint i32 %t2, 1
  %i = zext nneg i32 %t to i64
  %i2 = zext nneg i32 %t2 to i64
  %i3 = sext i32 %t3 to i64
  %pa = getelementptr i32, ptr %a, i64 %i2
  %base = ptrtoint ptr %b to i64
  %bytes = mul i64 %i3, 4
  %at = add i64 %base, %bytes
  %pb = inttoptr i64 %at to ptr
  %pc = getelementptr i32, ptr %c, i64 %i
  %va = load i32, ptr %pa
  %vb = load i32, ptr %pb
  %above = sub i32 %y, %n
  %above.wide = zext i32 %above to i64
  %above.high = lshr i64 %above.wide, 31
  %above.short = trunc i64 %above.high to i32
  %up = add i32 %y, 2147483646
  %up.wide = sext i32 %up to i64
  %up.high = lshr i64 %up.wide, 30
  %up.short = trunc i64 %up.high to i32
  %down = mul i32 %y, -3
  %down.wide = sext i32 %down to i64
  %down.high = lshr i64 %down.wide, 1
  %down.short = trunc i64 %down.high to i32
  %s1 = add i32 %va, %vb
  %s2 = xor i32 %above.short, %up.short
  %s3 = xor i32 %s2, %down.short
  %s = add i32 %s1, %s3
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %s
  store i32 %new.1, ptr %pc
  ret void
}
