; SPDX-License-Identifier: Apache-2.0
; A switch all threads take the same way. Every block writes down that it ran.
; run: n=1,7,16,33,5

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  switch i32 %n, label %other [
    i32 1, label %one
    i32 7, label %seven
    i32 16, label %seven
    i32 33, label %many
  ]

one:
  %was.1 = load i32, ptr %pc
  %six.1 = mul i32 %was.1, 6
  %now.1 = add i32 %six.1, 1
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %now.1
  store i32 %new.1, ptr %pc
  br label %join

seven:
  %was.2 = load i32, ptr %pc
  %six.2 = mul i32 %was.2, 6
  %now.2 = add i32 %six.2, 2
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %now.2
  store i32 %new.2, ptr %pc
  %w = load i32, ptr %pa
  br label %join

many:
  %was.3 = load i32, ptr %pc
  %six.3 = mul i32 %was.3, 6
  %now.3 = add i32 %six.3, 3
  %old.3 = load i32, ptr %pc
  %three.3 = mul i32 %old.3, 3
  %new.3 = add i32 %three.3, %now.3
  store i32 %new.3, ptr %pc
  %m = mul i32 %v, %x
  br label %join

other:
  %was.4 = load i32, ptr %pc
  %six.4 = mul i32 %was.4, 6
  %now.4 = add i32 %six.4, 4
  %old.4 = load i32, ptr %pc
  %three.4 = mul i32 %old.4, 3
  %new.4 = add i32 %three.4, %now.4
  store i32 %new.4, ptr %pc
  br label %join

join:
  %r = phi i32 [ 100, %one ], [ %w, %seven ], [ %m, %many ], [ %x, %other ]
  %was.5 = load i32, ptr %pc
  %six.5 = mul i32 %was.5, 6
  %now.5 = add i32 %six.5, 5
  %old.5 = load i32, ptr %pc
  %three.5 = mul i32 %old.5, 3
  %new.5 = add i32 %three.5, %now.5
  store i32 %new.5, ptr %pc
  %old.6 = load i32, ptr %pc
  %three.6 = mul i32 %old.6, 3
  %new.6 = add i32 %three.6, %r
  store i32 %new.6, ptr %pc
  ret void
}
