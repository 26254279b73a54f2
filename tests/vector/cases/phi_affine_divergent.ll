; SPDX-License-Identifier: Apache-2.0
; A phi of values with one stride behind a divergent branch.
; arrays: a=4+64 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %c0 = icmp ugt i32 %v, 7
  %x5 = add nsw i32 %x, 5
  br i1 %c0, label %then, label %join

then:
  %w = load i32, ptr %pa
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %w
  store i32 %new.1, ptr %pc
  br label %join

join:
  %p = phi i32 [ %x5, %then ], [ %x, %0 ]
  %p64 = zext i32 %p to i64
  %pp = getelementptr i32, ptr %a, i64 %p64
  %u = load i32, ptr %pp
  %old = load i32, ptr %pc
  %s = add i32 %u, %old
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %s
  store i32 %new.2, ptr %pc
  ret void
}
