; SPDX-License-Identifier: Apache-2.0
; Arithmetic that keeps a stride along the row, and some that does not.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %m = mul i32 %x, 5
  %s = sub i32 100, %m
  %sh = shl i32 %s, 3
  %not = xor i32 %sh, -1
  %low = shl i32 %x, 4
  %or = or disjoint i32 %low, 9
  %u = mul i32 %x, %nx
  %v = mul i32 %t, %y
  %w = mul i32 %x, %x
  %an = and i32 %x, 6
  %neg = sub i32 0, %x
  %l = sext i32 %neg to i64
  %l5 = mul i64 %l, 1000000007
  %lt = trunc i64 %l5 to i32
  %h = lshr i64 %l5, 32
  %lh = trunc i64 %h to i32
  %a1 = add i32 %not, %or
  %a2 = xor i32 %a1, %u
  %a3 = add i32 %a2, %v
  %a4 = xor i32 %a3, %w
  %a5 = add i32 %a4, %an
  %a6 = xor i32 %a5, %lt
  %a7 = add i32 %a6, %lh
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %a7
  store i32 %new.1, ptr %pc
  ret void
}
