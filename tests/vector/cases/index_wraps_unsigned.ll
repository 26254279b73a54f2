; SPDX-License-Identifier: Apache-2.0
; An index of 32 bits that wraps along the row, extended with zeros.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %big = add i32 %x, -8
  %ix = zext i32 %big to i64
  %wrapped = icmp ult i32 %big, -8
  %fix = select i1 %wrapped, i64 8, i64 -4294967288
  %at = add i64 %ix, %fix
  %p = getelementptr i32, ptr %a, i64 %at
  %v = load i32, ptr %p
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %v
  store i32 %new.1, ptr %pc
  ret void
}
