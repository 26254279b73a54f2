; SPDX-License-Identifier: Apache-2.0
; Pairs at indices that begin at a number that is loaded, in rows of which some do nothing, and whose index there is
; anything.
; run: nx=1,7,16,33,96 ny=1,3,4 n=all,half
; arrays: a=8 b=4:zero c=8

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul i32 %y, %nx
  %t = add i32 %row, %x
  %is.inside = icmp slt i32 %t, %n
  br i1 %is.inside, label %do, label %end

do:
  %wide = zext i32 %row to i64
  %pb = getelementptr i32, ptr %b, i64 %wide
  %base = load i32, ptr %pb
  %from = add i32 %base, %t
  %i = mul i32 %from, 2
  %i64 = sext i32 %i to i64
  %p0 = getelementptr i32, ptr %a, i64 %i64
  %p1 = getelementptr i8, ptr %p0, i64 4
  %v0 = load i32, ptr %p0
  %v1 = load i32, ptr %p1
  %q0 = getelementptr i32, ptr %c, i64 %i64
  %q1 = getelementptr i8, ptr %q0, i64 4
  %old = load i32, ptr %q0
  %three = mul i32 %old, 3
  %new = add i32 %three, %v1
  %old1 = load i32, ptr %q1
  %three1 = mul i32 %old1, 3
  %new1 = sub i32 %three1, %v0
  store i32 %new, ptr %q0
  store i32 %new1, ptr %q1
  br label %end

end:
  ret void
}
