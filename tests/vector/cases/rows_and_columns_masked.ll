; SPDX-License-Identifier: Apache-2.0
; Branches on the row alone and the column alone, with values made in them.
; run: ny=1,2,3,4,8
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %y64 = zext i32 %y to i64
  %x64 = zext i32 %x to i64
  %py = getelementptr i32, ptr %b, i64 %y64
  %px = getelementptr i32, ptr %b, i64 %x64
  %vy = load i32, ptr %py
  %vx = load i32, ptr %px
  %cy = icmp ugt i32 %vy, 7
  br i1 %cy, label %do.y, label %next

do.y:
  %dy = udiv i32 1000, %vy
  br label %next

next:
  %ry = phi i32 [ %dy, %do.y ], [ %y, %0 ]
  %cx = icmp ugt i32 %vx, 7
  br i1 %cx, label %do.x, label %end

do.x:
  %dx = udiv i32 1000, %vx
  %pay = getelementptr i32, ptr %a, i64 %y64
  %way = load i32, ptr %pay
  %sxy = add i32 %dx, %way
  br label %end

end:
  %rx = phi i32 [ %sxy, %do.x ], [ %x, %next ]
  %s = add i32 %ry, %rx
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %s
  store i32 %new.1, ptr %pc
  ret void
}
