; SPDX-License-Identifier: Apache-2.0
; Threads beyond the array return at once.
; run: n=all,half,1,1000
; arrays: a=4:f32 b=4 c=4:f32

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr float, ptr %a, i64 %i
  %pc = getelementptr float, ptr %c, i64 %i
  %in = icmp slt i32 %t, %n
  br i1 %in, label %do, label %end

do:
  %v = load float, ptr %pa
  %r = fadd float %v, 1.0
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %bits.1 = bitcast float %r to i32
  %new.1 = add i32 %three.1, %bits.1
  store i32 %new.1, ptr %pc
  br label %end

end:
  ret void
}
