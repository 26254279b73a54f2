; SPDX-License-Identifier: Apache-2.0
; Ifs in both arms of an if.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %b0 = and i32 %v, 1
  %c0 = icmp eq i32 %b0, 0
  br i1 %c0, label %then, label %else

then:
  %b1 = and i32 %v, 4
  %c1 = icmp eq i32 %b1, 0
  br i1 %c1, label %then.then, label %then.else

then.then:
  %w1 = load i32, ptr %pa
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %w1
  store i32 %new.1, ptr %pc
  br label %then.join

then.else:
  %w2 = mul i32 %v, 77
  br label %then.join

then.join:
  %w = phi i32 [ %w1, %then.then ], [ %w2, %then.else ]
  br label %join

else:
  %c2 = icmp ugt i32 %v, 8
  br i1 %c2, label %else.then, label %join

else.then:
  %w3 = add i32 %v, %x
  br label %join

join:
  %r = phi i32 [ %w, %then.join ], [ %v, %else ], [ %w3, %else.then ]
  %pd = getelementptr i32, ptr %pc, i64 0
  %old = load i32, ptr %pd
  %sum = add i32 %old, %r
  store i32 %sum, ptr %pd
  ret void
}
