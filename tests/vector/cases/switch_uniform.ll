; SPDX-License-Identifier: Apache-2.0
; A switch all threads take the same way.
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
  br label %join

seven:
  %w = load i32, ptr %pa
  br label %join

many:
  %m = mul i32 %v, %x
  br label %join

other:
  br label %join

join:
  %r = phi i32 [ 100, %one ], [ %w, %seven ], [ %m, %many ], [ %x, %other ]
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r
  store i32 %new.1, ptr %pc
  ret void
}
