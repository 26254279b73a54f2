; SPDX-License-Identifier: Apache-2.0
; Indices that wrap, under a mask that leaves out the first lanes.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %c0 = icmp ugt i32 %v, 8
  br i1 %c0, label %do, label %end

do:
  %down = sub i32 %x, 5
  %low = icmp slt i32 %down, 0
  br i1 %low, label %end, label %good

good:
  %z = zext i32 %down to i64
  %p = getelementptr i32, ptr %a, i64 %z
  %w = load i32, ptr %p
  %half = sdiv i32 %down, 2
  %h64 = sext i32 %half to i64
  %p2 = getelementptr i32, ptr %a, i64 %h64
  %u = load i32, ptr %p2
  %s = add i32 %w, %u
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %s
  store i32 %new.1, ptr %pc
  br label %end

end:
  ret void
}
