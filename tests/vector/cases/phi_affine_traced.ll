; SPDX-License-Identifier: Apache-2.0
; A phi of two values with one stride, and of two with different strides. Every block writes down that it ran.
; run: n=all,half,1,1000
; arrays: a=8+64 b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %c0 = icmp sgt i32 %n, 20
  %x5 = add nsw i32 %x, 5
  %x2 = mul nsw i32 %x, 2
  br i1 %c0, label %then, label %join

then:
  %was.1 = load i32, ptr %pc
  %six.1 = mul i32 %was.1, 6
  %now.1 = add i32 %six.1, 1
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %now.1
  store i32 %new.1, ptr %pc
  br label %join

join:
  %p = phi i32 [ %x5, %then ], [ %x, %0 ]
  %q = phi i32 [ %x2, %then ], [ %x5, %0 ]
  %was.2 = load i32, ptr %pc
  %six.2 = mul i32 %was.2, 6
  %now.2 = add i32 %six.2, 2
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %now.2
  store i32 %new.2, ptr %pc
  %p64 = zext i32 %p to i64
  %q64 = zext i32 %q to i64
  %pp = getelementptr i32, ptr %a, i64 %p64
  %pq = getelementptr i32, ptr %a, i64 %q64
  %v = load i32, ptr %pp
  %w = load i32, ptr %pq
  %s = add i32 %v, %w
  %old.3 = load i32, ptr %pc
  %three.3 = mul i32 %old.3, 3
  %new.3 = add i32 %three.3, %s
  store i32 %new.3, ptr %pc
  ret void
}
