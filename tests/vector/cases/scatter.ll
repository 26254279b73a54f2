; SPDX-License-Identifier: Apache-2.0
; Stores to places that no two threads share, not in order.
; arrays: a=4 b=4 c=4+32

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %v = load i32, ptr %pa
  %o = xor i64 %i, 5
  %q = getelementptr i32, ptr %c, i64 %o
  store i32 %v, ptr %q
  ret void
}
