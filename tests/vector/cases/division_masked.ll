; SPDX-License-Identifier: Apache-2.0
; Divisions that would fault in lanes that do not take part.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %zero = icmp eq i32 %v, 0
  br i1 %zero, label %end, label %do

do:
  %w = load i32, ptr %pa
  %d1 = udiv i32 %w, %v
  %d2 = sdiv i32 %w, %v
  %d3 = urem i32 %x, %v
  %d4 = srem i32 %w, %v
  %v64 = zext i32 %v to i64
  %w64 = sext i32 %w to i64
  %d5 = sdiv i64 %w64, %v64
  %t5 = trunc i64 %d5 to i32
  %s1 = add i32 %d1, %d2
  %s2 = xor i32 %s1, %d3
  %s3 = add i32 %s2, %d4
  %s4 = xor i32 %s3, %t5
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %s4
  store i32 %new.1, ptr %pc
  br label %end

end:
  ret void
}
