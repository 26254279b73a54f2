; SPDX-License-Identifier: Apache-2.0
; Indices of 32 bits that do not wrap, by their flags: sums, multiples, parts that are taken away again.
; arrays: a=8+64 b=4:small c=4+64
; run: nx=1,7,16,33,96 ny=1,3,4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nuw i32 %y, %nx
  %t = add nuw i32 %row, %x
  %z = zext i32 %t to i64
  %two = shl nuw i32 %t, 1
  %even = zext i32 %two to i64
  %row64 = zext i32 %row to i64
  %far = add i64 %z, %row64
  %near = sub i64 %far, %row64
  %pb = getelementptr i32, ptr %b, i64 %z
  %k = load i32, ptr %pb
  %pn = getelementptr i32, ptr %c, i64 %near
  %old = load i32, ptr %pn
  %w = mul i32 %old, 3
  %new = add i32 %w, %k
  store i32 %new, ptr %pn
  %pa = getelementptr i32, ptr %a, i64 %even
  %v = load i32, ptr %pa
  %three = mul i32 %v, 3
  %more = add i32 %three, %new
  store i32 %more, ptr %pa
  ret void
}
