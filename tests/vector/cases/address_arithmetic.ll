; SPDX-License-Identifier: Apache-2.0
; Addresses as numbers: made of integers, compared, subtracted.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %base = ptrtoint ptr %a to i64
  %i4 = shl i64 %i, 2
  %at = add i64 %base, %i4
  %p = inttoptr i64 %at to ptr
  %v = load i32, ptr %p
  %is.low = icmp ult ptr %p, %pa
  %is.same = icmp eq ptr %p, %pa
  %l = zext i1 %is.low to i32
  %s = zext i1 %is.same to i32
  %pc.n = ptrtoint ptr %pc to i64
  %c.n = ptrtoint ptr %c to i64
  %d = sub i64 %pc.n, %c.n
  %d32 = trunc i64 %d to i32
  %c0 = icmp ugt i32 %x, 4
  %sel = select i1 %c0, ptr %pa, ptr %pb
  %w = load i32, ptr %sel
  %r1 = add i32 %v, %l
  %r2 = shl i32 %s, 4
  %r3 = add i32 %r1, %r2
  %r4 = xor i32 %r3, %d32
  %r5 = add i32 %r4, %w
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r5
  store i32 %new.1, ptr %pc
  ret void
}
