; SPDX-License-Identifier: Apache-2.0
; A uniform branch in an arm that some lanes take.
; run: n=all,half,1,1000
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %c0 = icmp ugt i32 %v, 5
  br i1 %c0, label %then, label %join

then:
  %c1 = icmp sgt i32 %n, 20
  br i1 %c1, label %big, label %small

big:
  %w = load i32, ptr %pa
  br label %both

small:
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, 7
  store i32 %new.1, ptr %pc
  br label %both

both:
  %u = phi i32 [ %w, %big ], [ %v, %small ]
  %u2 = add i32 %u, 1
  br label %join

join:
  %r = phi i32 [ %u2, %both ], [ 0, %0 ]
  %old = load i32, ptr %pc
  %s = add i32 %r, %old
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %s
  store i32 %new.2, ptr %pc
  ret void
}
