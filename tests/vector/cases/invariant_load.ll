; SPDX-License-Identifier: Apache-2.0
; Loads that are marked as never changing.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pa, !invariant.load !0
  %y64 = zext i32 %y to i64
  %py = getelementptr i32, ptr %a, i64 %y64
  %w = load i32, ptr %py, !invariant.load !0
  %u = load i32, ptr %a, !invariant.load !0
  %s = add i32 %v, %w
  %r = xor i32 %s, %u
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r
  store i32 %new.1, ptr %pc
  ret void
}

!0 = !{}
