; SPDX-License-Identifier: Apache-2.0
; Arrays of all threads, element after element: each thread at an index of its own, computed in 64
; bits and in 32, and one behind it; all of them at one index.
; arrays: a=4:small b=4 c=68

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %v = load i32, ptr %pa
  %pitch = sext i32 %n to i64
  %mine = getelementptr i32, ptr %c, i64 %i
  %wide = zext i32 %v to i64
  %bytes = shl i64 %wide, 2
  %far = mul i64 %bytes, %pitch
  %p = getelementptr i8, ptr %mine, i64 %far
  %old = load i32, ptr %p, !ptxrun.in_array !0
  %three = mul i32 %old, 3
  %new = add i32 %three, %t
  store i32 %new, ptr %p, !ptxrun.in_array !0
  %next = add i64 %bytes, 4
  %far.2 = mul i64 %next, %pitch
  %p.2 = getelementptr i8, ptr %mine, i64 %far.2
  %w = load i32, ptr %p.2, !ptxrun.in_array !0
  %far.3 = mul i64 %pitch, 20
  %p.3 = getelementptr i8, ptr %mine, i64 %far.3
  %fifth = load i32, ptr %p.3, !ptxrun.in_array !0
  %sum = add i32 %w, %fifth
  %b.old = load i32, ptr %pb
  %b.three = mul i32 %b.old, 3
  %b.new = add i32 %b.three, %sum
  store i32 %b.new, ptr %pb
  ret void
}

!0 = !{}
