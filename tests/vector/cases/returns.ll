; SPDX-License-Identifier: Apache-2.0
; Returns in several places.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %c0 = icmp ult i32 %v, 4
  br i1 %c0, label %first, label %next

first:
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, 1
  store i32 %new.1, ptr %pc
  ret void

next:
  %c1 = icmp ult i32 %v, 8
  br i1 %c1, label %second, label %last

second:
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, 2
  store i32 %new.2, ptr %pc
  %c2 = icmp ult i32 %v, 6
  br i1 %c2, label %leave, label %last

leave:
  ret void

last:
  %w = load i32, ptr %pa
  %old.3 = load i32, ptr %pc
  %three.3 = mul i32 %old.3, 3
  %new.3 = add i32 %three.3, %w
  store i32 %new.3, ptr %pc
  ret void
}
