; SPDX-License-Identifier: Apache-2.0
; Comparisons of values with the same stride, and with another.
; run: n=5,4,all

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %x5 = add nsw i32 %x, 5
  %xn = add i32 %x, %n
  %eq = icmp eq i32 %x5, %xn
  %lt = icmp slt i32 %x5, %xn
  %ult = icmp ult i32 %x, %n
  %x2 = mul nsw i32 %x, 2
  %ge = icmp sge i32 %x2, %x5
  %e = zext i1 %eq to i32
  %l = zext i1 %lt to i32
  %u = zext i1 %ult to i32
  %g = zext i1 %ge to i32
  %l1 = shl i32 %l, 1
  %u2 = shl i32 %u, 2
  %g3 = shl i32 %g, 3
  %s1 = or i32 %e, %l1
  %s2 = or i32 %u2, %g3
  %s = or i32 %s1, %s2
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %s
  store i32 %new.1, ptr %pc
  ret void
}
