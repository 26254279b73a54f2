; SPDX-License-Identifier: Apache-2.0
; Guards in a chain, with values made between them.
; run: n=all,half,1,1000
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %x3 = mul nsw i32 %x, 3
  %in.1 = icmp slt i32 %x3, 150
  br i1 %in.1, label %g2, label %end

g2:
  %y2 = mul nsw i32 %y, 2
  %in.2 = icmp ult i32 %y2, 7
  br i1 %in.2, label %g3, label %end

g3:
  %v = load i32, ptr %pb
  %in.3 = icmp ne i32 %v, 3
  br i1 %in.3, label %g4, label %end

g4:
  %s = add i32 %x3, %y2
  %in.4 = icmp slt i32 %t, %n
  br i1 %in.4, label %do, label %end

do:
  %r = add i32 %s, %v
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r
  store i32 %new.1, ptr %pc
  br label %end

end:
  ret void
}
