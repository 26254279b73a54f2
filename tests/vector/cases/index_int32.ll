; SPDX-License-Identifier: Apache-2.0
; Indices of 32 bits in the address itself.
; arrays: a=8 b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %p = getelementptr i32, ptr %a, i32 %t
  %v = load i32, ptr %p
  %x3 = mul nsw i32 %x, 3
  %p3 = getelementptr i16, ptr %a, i32 %x3
  %w = load i16, ptr %p3
  %ws = sext i16 %w to i32
  %s = add i32 %v, %ws
  %q = getelementptr i32, ptr %c, i32 %t
  store i32 %s, ptr %q
  ret void
}
