; SPDX-License-Identifier: Apache-2.0
; Both arms give a value, and both load.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %c7 = icmp ult i32 %v, 7
  br i1 %c7, label %then, label %else

then:
  %w = load i32, ptr %pa
  %r1 = add i32 %w, %v
  br label %join

else:
  %back = sub i32 0, %v
  %r2 = mul i32 %back, 5
  br label %join

join:
  %r = phi i32 [ %r1, %then ], [ %r2, %else ]
  %k = phi i32 [ %x, %then ], [ 9, %else ]
  %s = xor i32 %r, %k
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %s
  store i32 %new.1, ptr %pc
  ret void
}
