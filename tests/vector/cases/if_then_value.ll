; SPDX-License-Identifier: Apache-2.0
; A phi at the end of a single arm: the other way is an edge without a block.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %c7 = icmp ugt i32 %v, 7
  br i1 %c7, label %then, label %join

then:
  %w = load i32, ptr %pa
  %d = udiv i32 %w, %v
  br label %join

join:
  %r = phi i32 [ %d, %then ], [ %x, %0 ]
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r
  store i32 %new.1, ptr %pc
  ret void
}
