; SPDX-License-Identifier: Apache-2.0
; The 32-bit index does wrap between two lanes, for some of the sizes; threads behind that access nothing.
; run: nx=1,16,33,64 ny=1,3 n=all,half,1,10,21

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul i32 %y, %nx
  %t = add i32 %row, %x
  %first = sub i32 2147483647, %n
  %index = add i32 %first, %t
  %i = sext i32 %index to i64
  %before = sext i32 %first to i64
  %back = sub i64 0, %before
  %base = getelementptr i32, ptr %a, i64 %back
  %base.c = getelementptr i32, ptr %c, i64 %back
  %in = icmp sge i32 %index, 0
  %is.there = icmp slt i32 %t, %n
  %do = and i1 %in, %is.there
  br i1 %do, label %work, label %end

work:
  %pa = getelementptr i32, ptr %base, i64 %i
  %pc = getelementptr i32, ptr %base.c, i64 %i
  %v = load i32, ptr %pa
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %v
  store i32 %new, ptr %pc
  br label %end

end:
  ret void
}
