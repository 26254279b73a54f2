; SPDX-License-Identifier: Apache-2.0
; Loads that would leave the array in lanes that do not take part.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %not.first = icmp sgt i32 %t, 0
  br i1 %not.first, label %left, label %next

left:
  %pl = getelementptr i32, ptr %pa, i64 -1
  %l = load i32, ptr %pl
  br label %next

next:
  %lv = phi i32 [ %l, %left ], [ 0, %0 ]
  %total = mul nsw i32 %nx, %ny
  %end.at = sub nsw i32 %total, 1
  %not.last = icmp slt i32 %t, %end.at
  br i1 %not.last, label %right, label %join

right:
  %pr = getelementptr i32, ptr %pa, i64 1
  %r = load i32, ptr %pr
  br label %join

join:
  %rv = phi i32 [ %r, %right ], [ 0, %next ]
  %s = sub i32 %lv, %rv
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %s
  store i32 %new.1, ptr %pc
  ret void
}
