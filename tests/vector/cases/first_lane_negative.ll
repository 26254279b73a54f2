; SPDX-License-Identifier: Apache-2.0
; What is never negative is so in the first lane, which does not look at it: there it is -1.
; arrays: a=4 b=4:small c=8

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nuw nsw i32 %y, %nx
  %t = add nuw nsw i32 %row, %x
  %i = zext nneg i32 %t to i64
  %pc = getelementptr i64, ptr %c, i64 %i
  %before = add nsw i32 %x, -1
  %wide = zext nneg i32 %before to i64
  %far = mul i64 %wide, 3
  %is.first = icmp eq i32 %x, 0
  %r = select i1 %is.first, i64 5, i64 %far
  store i64 %r, ptr %pc
  %pa = getelementptr inbounds nuw i32, ptr %a, i64 %wide
  br i1 %is.first, label %done, label %behind

behind:
  %v = load i32, ptr %pa
  %v.wide = zext i32 %v to i64
  %sum = add i64 %far, %v.wide
  store i64 %sum, ptr %pc
  br label %done

done:
  ret void
}
