; SPDX-License-Identifier: Apache-2.0
; What only certain rows do, and all of such a row: the borders of a tile.
; run: ny=1,2,3,4,8 n=1,3,all
; arrays: a=4 b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nuw nsw i32 %y, %nx
  %t = add nuw nsw i32 %row, %x
  %i = zext nneg i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pa
  %is.first = icmp eq i32 %y, 0
  br i1 %is.first, label %upper, label %middle

upper:
  %old.1 = load i32, ptr %pb
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %v
  store i32 %new.1, ptr %pb
  br label %middle

middle:
  %end = sub i32 %ny, 1
  %is.below = icmp ult i32 %y, %n
  %is.last = icmp eq i32 %y, %end
  %is.lower = and i1 %is.below, %is.last
  br i1 %is.lower, label %done, label %other

other:
  %old.2 = load i32, ptr %pc
  %five.2 = mul i32 %old.2, 5
  %new.2 = add i32 %five.2, %x
  %sum.2 = add i32 %new.2, %y
  store i32 %sum.2, ptr %pc
  br label %done

done:
  ret void
}
