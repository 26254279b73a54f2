; SPDX-License-Identifier: Apache-2.0
; Comparisons of sums that wrap along the row.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %p = add i32 %x, 2147483640
  %q = add i32 %x, 2147483645
  %lt = icmp slt i32 %p, %q
  %u1 = add i32 %x, -8
  %u2 = add i32 %x, -3
  %ult = icmp ult i32 %u1, %u2
  %l = zext i1 %lt to i32
  %u = sext i1 %ult to i32
  %s = sub i32 %u, %l
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %s
  store i32 %new.1, ptr %pc
  ret void
}
