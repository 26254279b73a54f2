; SPDX-License-Identifier: Apache-2.0
; A branch all threads take the same way, with an arm for each.
; run: n=all,half,1,1000

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %c0 = icmp sgt i32 %n, 20
  br i1 %c0, label %then, label %else

then:
  %w = load i32, ptr %pa
  br label %join

else:
  %v = load i32, ptr %pb
  %v2 = shl i32 %v, 1
  br label %join

join:
  %r = phi i32 [ %w, %then ], [ %v2, %else ]
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r
  store i32 %new.1, ptr %pc
  ret void
}
