; SPDX-License-Identifier: Apache-2.0
; A check before each access that never fails.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %bad = icmp ugt i32 %v, 1000
  br i1 %bad, label %fault, label %good

fault:
  call void @rt_fault(ptr %c, i32 3, i64 %i)
  unreachable

good:
  %w = load i32, ptr %pa
  %bad2 = icmp eq i32 %v, 99
  br i1 %bad2, label %fault2, label %good2

fault2:
  %w64 = zext i32 %w to i64
  call void @rt_fault(ptr %c, i32 4, i64 %w64)
  unreachable

good2:
  %s = add i32 %v, %w
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %s
  store i32 %new.1, ptr %pc
  ret void
}

declare void @rt_fault(ptr, i32, i64) noreturn
