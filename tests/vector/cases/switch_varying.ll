; SPDX-License-Identifier: Apache-2.0
; A switch on what was loaded; two cases share a block, one leads straight to the join.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  switch i32 %v, label %other [
    i32 0, label %one
    i32 5, label %two
    i32 9, label %two
    i32 3, label %join
    i32 12, label %stores
    i32 15, label %one
  ]

one:
  %r1 = add i32 %x, 1000
  br label %join

two:
  %w = load i32, ptr %pa
  br label %join

stores:
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, -5
  store i32 %new.1, ptr %pc
  br label %end

other:
  %r3 = mul i32 %v, %v
  br label %join

join:
  %r = phi i32 [ %r1, %one ], [ %w, %two ], [ 3, %0 ], [ %r3, %other ]
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %r
  store i32 %new.2, ptr %pc
  br label %end

end:
  ret void
}
