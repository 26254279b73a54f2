; SPDX-License-Identifier: Apache-2.0
; Whether all rows are on one side of a limit: the last one decides.
; run: ny=1,2,3,4,8 n=1,3,all

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nuw nsw i32 %y, %nx
  %t = add nuw nsw i32 %row, %x
  %i = zext nneg i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %va = load i32, ptr %pa
  %below = icmp ult i32 %y, %n
  %left = icmp ult i32 %x, %n
  %inside = and i1 %below, %left
  br i1 %inside, label %first, label %second

first:
  %old.1 = load i32, ptr %pb
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %va
  store i32 %new.1, ptr %pb
  br label %second

second:
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %y
  store i32 %new.2, ptr %pc
  ret void
}
