; SPDX-License-Identifier: Apache-2.0
; Fields at indices that wrap in some lanes, counted with a sign and without; and one that falls.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %own = sext i32 %t to i64
  %two = mul i32 %x, 2
  %big = add i32 %two, 2147483608
  %big64 = sext i32 %big to i64
  %big.wrapped = icmp slt i32 %big, 0
  %big.fix = select i1 %big.wrapped, i64 2147483688, i64 -2147483608
  %at.signed = add i64 %big64, %big.fix
  %in.a = lshr i64 %at.signed, 1
  %pa = getelementptr i32, ptr %a, i64 %in.a
  %va = load i32, ptr %pa
  %middle = and i32 %nx, -2
  %middle64 = zext i32 %middle to i64
  %less = sub i32 %two, %middle
  %less64 = zext i32 %less to i64
  %less.wrapped = icmp ult i32 %two, %middle
  %less.fix = select i1 %less.wrapped, i64 -4294967296, i64 0
  %less.all = add i64 %less64, %less.fix
  %at.unsigned = add i64 %less.all, %middle64
  %in.b = lshr i64 %at.unsigned, 1
  %pb = getelementptr i32, ptr %b, i64 %in.b
  %vb = load i32, ptr %pb
  %falling = sub i32 -2147483610, %x
  %falling64 = sext i32 %falling to i64
  %falling.wrapped = icmp sgt i32 %falling, 0
  %falling.fix = select i1 %falling.wrapped, i64 -2147483686, i64 2147483610
  %minus = add i64 %falling64, %falling.fix
  %plus = sub i64 0, %minus
  %pf = getelementptr i32, ptr %a, i64 %plus
  %vf = load i32, ptr %pf
  %pc = getelementptr i32, ptr %c, i64 %own
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %vab = xor i32 %va, %vb
  %vabf = sub i32 %vab, %vf
  %new = add i32 %three, %vabf
  store i32 %new, ptr %pc
  ret void
}
