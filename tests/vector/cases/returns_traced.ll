; SPDX-License-Identifier: Apache-2.0
; Returns in several places. Every block writes down that it ran.
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
  %was.1 = load i32, ptr %pc
  %six.1 = mul i32 %was.1, 6
  %now.1 = add i32 %six.1, 1
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %now.1
  store i32 %new.1, ptr %pc
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, 1
  store i32 %new.2, ptr %pc
  ret void

next:
  %was.2 = load i32, ptr %pc
  %six.2 = mul i32 %was.2, 6
  %now.2 = add i32 %six.2, 2
  %old.3 = load i32, ptr %pc
  %three.3 = mul i32 %old.3, 3
  %new.3 = add i32 %three.3, %now.2
  store i32 %new.3, ptr %pc
  %c1 = icmp ult i32 %v, 8
  br i1 %c1, label %second, label %last

second:
  %was.3 = load i32, ptr %pc
  %six.3 = mul i32 %was.3, 6
  %now.3 = add i32 %six.3, 3
  %old.4 = load i32, ptr %pc
  %three.4 = mul i32 %old.4, 3
  %new.4 = add i32 %three.4, %now.3
  store i32 %new.4, ptr %pc
  %old.5 = load i32, ptr %pc
  %three.5 = mul i32 %old.5, 3
  %new.5 = add i32 %three.5, 2
  store i32 %new.5, ptr %pc
  %c2 = icmp ult i32 %v, 6
  br i1 %c2, label %leave, label %last

leave:
  %was.4 = load i32, ptr %pc
  %six.4 = mul i32 %was.4, 6
  %now.4 = add i32 %six.4, 4
  %old.6 = load i32, ptr %pc
  %three.6 = mul i32 %old.6, 3
  %new.6 = add i32 %three.6, %now.4
  store i32 %new.6, ptr %pc
  ret void

last:
  %was.5 = load i32, ptr %pc
  %six.5 = mul i32 %was.5, 6
  %now.5 = add i32 %six.5, 5
  %old.7 = load i32, ptr %pc
  %three.7 = mul i32 %old.7, 3
  %new.7 = add i32 %three.7, %now.5
  store i32 %new.7, ptr %pc
  %w = load i32, ptr %pa
  %old.8 = load i32, ptr %pc
  %three.8 = mul i32 %old.8, 3
  %new.8 = add i32 %three.8, %w
  store i32 %new.8, ptr %pc
  ret void
}
