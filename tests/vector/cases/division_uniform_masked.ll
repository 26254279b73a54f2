; SPDX-License-Identifier: Apache-2.0
; A divisor that all have, which is zero when nobody divides.
; run: n=7,all,1
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %k = sub i32 %n, 7
  %c0 = icmp ugt i32 %v, 5
  %c1 = icmp ne i32 %k, 0
  %c2 = and i1 %c0, %c1
  br i1 %c2, label %do, label %end

do:
  %u = udiv i32 100000, %k
  %d = udiv i32 %x, %k
  %s = add i32 %d, %u
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %s
  store i32 %new.1, ptr %pc
  br label %end

end:
  ret void
}
