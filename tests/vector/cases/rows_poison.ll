; SPDX-License-Identifier: Apache-2.0
; The number of the row above is poison in the first rows, which do not look at it.
; run: ny=1,2,3,4,8 n=1,2,3

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nuw nsw i32 %y, %nx
  %t = add nuw nsw i32 %row, %x
  %i = zext nneg i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %above = sub nuw i32 %y, %n
  %above.wide = zext i32 %above to i64
  %from.row = mul i64 %above.wide, 4
  %pa = getelementptr i8, ptr %a, i64 %from.row
  %old.0 = load i32, ptr %pc
  %five.0 = mul i32 %old.0, 5
  %new.0 = add i32 %five.0, %x
  store i32 %new.0, ptr %pc
  %is.first = icmp ult i32 %y, %n
  br i1 %is.first, label %done, label %below

below:
  %v = load i32, ptr %pa
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %v
  store i32 %new.1, ptr %pc
  br label %done

done:
  ret void
}
