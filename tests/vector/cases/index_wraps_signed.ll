; SPDX-License-Identifier: Apache-2.0
; An index of 32 bits that wraps along the row, extended with its sign.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %big = add i32 %x, 2147483640
  %ix = sext i32 %big to i64
  %base = getelementptr i32, ptr %a, i64 %ix
  %back = getelementptr i32, ptr %base, i64 -2147483640
  %wrapped = icmp slt i32 %big, 0
  %fix = select i1 %wrapped, i64 4294967296, i64 0
  %p = getelementptr i32, ptr %back, i64 %fix
  %v = load i32, ptr %p
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %v
  store i32 %new.1, ptr %pc
  ret void
}
