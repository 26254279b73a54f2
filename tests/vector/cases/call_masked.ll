; SPDX-License-Identifier: Apache-2.0
; Calls under a mask: as many as lanes, with arguments and results of several types.
; arrays: a=4 b=4:small c=4+4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %c0 = icmp ugt i32 %v, 9
  br i1 %c0, label %do, label %end

do:
  call void @outside_add(ptr %c, i32 1)
  %v64 = zext i32 %v to i64
  %b8 = trunc i32 %x to i8
  %r = call i64 @outside_long(ptr %pa, i64 %v64, i8 %b8)
  %rt = trunc i64 %r to i32
  %f = uitofp i32 %v to float
  %g = call float @outside_float(float %f, i32 %x)
  %gi = bitcast float %g to i32
  %s = add i32 %rt, %gi
  %q = getelementptr i32, ptr %pc, i64 1
  store i32 %s, ptr %q
  br label %end

end:
  ret void
}

declare void @outside_add(ptr, i32)
declare i64 @outside_long(ptr, i64, i8)
declare float @outside_float(float, i32)
