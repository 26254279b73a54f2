; SPDX-License-Identifier: Apache-2.0
; Ways that cross: a block that two arms of different ifs lead to.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %c0 = icmp ult i32 %v, 10
  br i1 %c0, label %one, label %two

one:
  %c1 = icmp ult i32 %v, 5
  br i1 %c1, label %three, label %shared

two:
  %c2 = icmp ult i32 %v, 13
  br i1 %c2, label %shared, label %three

shared:
  %s = phi i32 [ 11, %one ], [ %x, %two ]
  %w = load i32, ptr %pa
  %s2 = add i32 %s, %w
  br label %end

three:
  %k = phi i32 [ %v, %one ], [ 22, %two ]
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %k
  store i32 %new.1, ptr %pc
  br label %end

end:
  %r = phi i32 [ %s2, %shared ], [ %k, %three ]
  %r2 = mul i32 %r, 3
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %r2
  store i32 %new.2, ptr %pc
  ret void
}
