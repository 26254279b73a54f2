; SPDX-License-Identifier: Apache-2.0
; Strides under a mask: what is beside them belongs to nobody.
; arrays: a=8 b=4:small c=8

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %v = load i32, ptr %pb
  %c0 = icmp ugt i32 %v, 6
  br i1 %c0, label %do, label %end

do:
  %k = mul nuw nsw i64 %i, 2
  %p = getelementptr i32, ptr %a, i64 %k
  %w = load i32, ptr %p
  %q = getelementptr i32, ptr %c, i64 %k
  store i32 %w, ptr %q
  %k3 = mul nuw nsw i64 %i, 3
  %q3 = getelementptr i8, ptr %c, i64 %k3
  %last = sub nsw i32 %nx, 1
  %back = sub nsw i32 %last, %x
  %at = add nsw i32 %row, %back
  %at64 = zext i32 %at to i64
  %pr = getelementptr i32, ptr %b, i64 %at64
  %u = load i32, ptr %pr
  %r = add i32 %w, %u
  %q1 = getelementptr i32, ptr %q, i64 1
  store i32 %r, ptr %q1
  br label %end

end:
  ret void
}
