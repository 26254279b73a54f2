; SPDX-License-Identifier: Apache-2.0
; Rows at an index of 32 bits that wraps in some of them: in the middle of a vector.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %big = add i32 %t, -40
  %ix = zext i32 %big to i64
  %wrapped = icmp ult i32 %big, -40
  %fix = select i1 %wrapped, i64 40, i64 -4294967256
  %base = getelementptr i32, ptr %a, i64 %fix
  %p = getelementptr i32, ptr %base, i64 %ix
  %v = load i32, ptr %p
  %q0 = getelementptr i32, ptr %c, i64 %fix
  %q = getelementptr i32, ptr %q0, i64 %ix
  %old = load i32, ptr %q
  %s = sub i32 %v, %old
  store i32 %s, ptr %q
  ret void
}
