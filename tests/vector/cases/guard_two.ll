; SPDX-License-Identifier: Apache-2.0
; Two guards, one along each axis.
; run: n=row,half,2,0,1003,1006 nx=1,7,16,33,96 ny=1,3,4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %out.x = icmp sge i32 %x, %n
  br i1 %out.x, label %end, label %next

next:
  %rows = and i32 %n, 3
  %n.4 = lshr i32 %n, 2
  %first = and i32 %n.4, 1
  %from = sub i32 %y, %first
  %out.y = icmp uge i32 %from, %rows
  br i1 %out.y, label %end, label %do

do:
  %v = load i32, ptr %pa
  %r = mul i32 %v, 7
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r
  store i32 %new.1, ptr %pc
  br label %end

end:
  ret void
}
