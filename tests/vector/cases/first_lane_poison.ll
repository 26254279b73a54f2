; SPDX-License-Identifier: Apache-2.0
; The number of the thread before is poison in the first threads, which do not look at it.
; arrays: a=4 b=4:small c=8
; run: n=1,2,3

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nuw nsw i32 %y, %nx
  %t = add nuw nsw i32 %row, %x
  %i = zext nneg i32 %t to i64
  %pc = getelementptr i64, ptr %c, i64 %i
  %before = sub nuw i32 %x, %n
  %wide = zext i32 %before to i64
  %far = add i64 %wide, 77
  %is.first = icmp ult i32 %x, %n
  %r = select i1 %is.first, i64 5, i64 %far
  store i64 %r, ptr %pc
  ret void
}
