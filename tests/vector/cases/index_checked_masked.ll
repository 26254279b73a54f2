; SPDX-License-Identifier: Apache-2.0
; Pairs at an index that may wrap, under a mask, where a part of it is made, too.
; arrays: a=8 b=4:small c=8

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pn = getelementptr i32, ptr %b, i64 %i
  %k = load i32, ptr %pn
  %c0 = icmp ugt i32 %k, 6
  br i1 %c0, label %do, label %end

do:
  %zero = udiv i32 %n, 1000003
  %u = add i32 %t, %zero
  %z = zext i32 %u to i64
  %p = getelementptr <2 x i32>, ptr %a, i64 %z
  %v = load <2 x i32>, ptr %p, align 8
  %q = getelementptr <2 x i32>, ptr %c, i64 %z
  %old = load <2 x i32>, ptr %q, align 8
  %s = sub <2 x i32> %v, %old
  store <2 x i32> %s, ptr %q, align 8
  br label %end

end:
  ret void
}
