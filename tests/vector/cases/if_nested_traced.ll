; SPDX-License-Identifier: Apache-2.0
; Ifs in both arms of an if. Every block writes down that it ran.
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
  %was.1 = load i32, ptr %pc
  %six.1 = mul i32 %was.1, 6
  %now.1 = add i32 %six.1, 1
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %now.1
  store i32 %new.1, ptr %pc
  %b1 = and i32 %v, 4
  %c1 = icmp eq i32 %b1, 0
  br i1 %c1, label %then.then, label %then.else

then.then:
  %was.2 = load i32, ptr %pc
  %six.2 = mul i32 %was.2, 6
  %now.2 = add i32 %six.2, 2
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %now.2
  store i32 %new.2, ptr %pc
  %w1 = load i32, ptr %pa
  %old.3 = load i32, ptr %pc
  %three.3 = mul i32 %old.3, 3
  %new.3 = add i32 %three.3, %w1
  store i32 %new.3, ptr %pc
  br label %then.join

then.else:
  %was.3 = load i32, ptr %pc
  %six.3 = mul i32 %was.3, 6
  %now.3 = add i32 %six.3, 3
  %old.4 = load i32, ptr %pc
  %three.4 = mul i32 %old.4, 3
  %new.4 = add i32 %three.4, %now.3
  store i32 %new.4, ptr %pc
  %w2 = mul i32 %v, 77
  br label %then.join

then.join:
  %w = phi i32 [ %w1, %then.then ], [ %w2, %then.else ]
  %was.4 = load i32, ptr %pc
  %six.4 = mul i32 %was.4, 6
  %now.4 = add i32 %six.4, 4
  %old.5 = load i32, ptr %pc
  %three.5 = mul i32 %old.5, 3
  %new.5 = add i32 %three.5, %now.4
  store i32 %new.5, ptr %pc
  br label %join

else:
  %was.5 = load i32, ptr %pc
  %six.5 = mul i32 %was.5, 6
  %now.5 = add i32 %six.5, 5
  %old.6 = load i32, ptr %pc
  %three.6 = mul i32 %old.6, 3
  %new.6 = add i32 %three.6, %now.5
  store i32 %new.6, ptr %pc
  %c2 = icmp ugt i32 %v, 8
  br i1 %c2, label %else.then, label %join

else.then:
  %was.6 = load i32, ptr %pc
  %six.6 = mul i32 %was.6, 6
  %now.6 = add i32 %six.6, 6
  %old.7 = load i32, ptr %pc
  %three.7 = mul i32 %old.7, 3
  %new.7 = add i32 %three.7, %now.6
  store i32 %new.7, ptr %pc
  %w3 = add i32 %v, %x
  br label %join

join:
  %r = phi i32 [ %w, %then.join ], [ %v, %else ], [ %w3, %else.then ]
  %was.7 = load i32, ptr %pc
  %six.7 = mul i32 %was.7, 6
  %now.7 = add i32 %six.7, 7
  %old.8 = load i32, ptr %pc
  %three.8 = mul i32 %old.8, 3
  %new.8 = add i32 %three.8, %now.7
  store i32 %new.8, ptr %pc
  %pd = getelementptr i32, ptr %pc, i64 0
  %old = load i32, ptr %pd
  %sum = add i32 %old, %r
  store i32 %sum, ptr %pd
  ret void
}
