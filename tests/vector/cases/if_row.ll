; SPDX-License-Identifier: Apache-2.0
; A branch that rows decide: the same along each.
; run: ny=1,2,3,4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %bit = and i32 %y, 1
  %odd = icmp ne i32 %bit, 0
  br i1 %odd, label %then, label %else

then:
  %w = load i32, ptr %pa
  br label %join

else:
  %y3 = mul i32 %y, 3
  br label %join

join:
  %r = phi i32 [ %w, %then ], [ %y3, %else ]
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r
  store i32 %new.1, ptr %pc
  ret void
}
