; SPDX-License-Identifier: Apache-2.0
; Pointers loaded from memory, and stored there.
; arrays: a=0+64 b=4:small c=8

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %q = getelementptr ptr, ptr %c, i64 %i
  %n1 = load i32, ptr %pb
  %k64 = zext i32 %n1 to i64
  %p = getelementptr i32, ptr %a, i64 %k64
  store ptr %p, ptr %q
  %p2 = load ptr, ptr %q
  %v = load i32, ptr %p2
  %v64 = zext i32 %v to i64
  store i64 %v64, ptr %q
  ret void
}
