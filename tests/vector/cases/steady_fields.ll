; SPDX-License-Identifier: Apache-2.0
; Fields of structures at indices of 32 bits that could wrap, counted with and without a sign, behind a guard.
; run: nx=1,7,16,33,96 ny=1,3,4 n=all,half,1
; arrays: a=12 b=4 c=12

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul i32 %y, %nx
  %t = add i32 %row, %x
  %is.inside = icmp ult i32 %t, %n
  br i1 %is.inside, label %do, label %end

do:
  %i = mul i32 %t, 3
  %z = zext i32 %i to i64
  %p0 = getelementptr i32, ptr %a, i64 %z
  %p1 = getelementptr i8, ptr %p0, i64 4
  %p2 = getelementptr i8, ptr %p0, i64 8
  %v0 = load i32, ptr %p0
  %v1 = load i32, ptr %p1
  %v2 = load i32, ptr %p2
  %s = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %s
  %w = load i32, ptr %pb
  %si = sext i32 %i to i64
  %q0 = getelementptr i32, ptr %c, i64 %si
  %q2 = getelementptr i8, ptr %q0, i64 8
  %old = load i32, ptr %q0
  %three = mul i32 %old, 3
  %v01 = sub i32 %v0, %v1
  %v012 = xor i32 %v01, %v2
  %new = add i32 %three, %v012
  store i32 %new, ptr %q0
  %old2 = load i32, ptr %q2
  %three2 = mul i32 %old2, 5
  %new2 = add i32 %three2, %w
  store i32 %new2, ptr %q2
  br label %end

end:
  ret void
}
