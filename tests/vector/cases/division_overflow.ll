; SPDX-License-Identifier: Apache-2.0
; Signed divisions whose overflow some lanes avoid.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %m = sub i32 %v, 2
  %low = icmp ult i32 %v, 7
  %w = select i1 %low, i32 -2147483648, i32 77
  %bad0 = icmp eq i32 %m, 0
  %bad1 = icmp eq i32 %m, -1
  %bad = or i1 %bad0, %bad1
  br i1 %bad, label %end, label %do

do:
  %d = sdiv i32 %w, %m
  %r = srem i32 %w, %m
  %s = xor i32 %d, %r
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %s
  store i32 %new.1, ptr %pc
  br label %end

end:
  ret void
}
