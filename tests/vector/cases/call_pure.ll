; SPDX-License-Identifier: Apache-2.0
; A function of its arguments alone: once for all where they are the same.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %u = call i32 @outside_pure(i32 %n)
  %v = load i32, ptr %pb
  %w = call i32 @outside_pure(i32 %v)
  %ry = call i32 @outside_pure(i32 %y)
  %c0 = icmp ugt i32 %v, 9
  br i1 %c0, label %do, label %end

do:
  %m = call i32 @outside_pure(i32 %x)
  br label %end

end:
  %p = phi i32 [ %m, %do ], [ 0, %0 ]
  %s1 = add i32 %u, %w
  %s2 = xor i32 %s1, %ry
  %s3 = add i32 %s2, %p
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %s3
  store i32 %new.1, ptr %pc
  ret void
}

declare i32 @outside_pure(i32) memory(none) nounwind willreturn
