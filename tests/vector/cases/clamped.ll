; SPDX-License-Identifier: Apache-2.0
; Neighbours but at the borders of a row: indices limited to it on both sides, as stencils are written.
; arrays: a=4:small b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %last = add nsw i32 %nx, -1
  %right = add nsw i32 %x, 1
  %right.in = call i32 @llvm.smin.i32(i32 %right, i32 %last)
  %left = add nsw i32 %x, -2
  %left.in = call i32 @llvm.smax.i32(i32 %left, i32 0)
  %r = add nsw i32 %row, %right.in
  %r64 = sext i32 %r to i64
  %pr = getelementptr i32, ptr %a, i64 %r64
  %l64 = zext nneg i32 %left.in to i64
  %row64 = sext i32 %row to i64
  %prow = getelementptr i32, ptr %b, i64 %row64
  %pl = getelementptr i32, ptr %prow, i64 %l64
  %vr = load i32, ptr %pr
  %vl = load i32, ptr %pl
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %sum = add i32 %vr, %vl
  %new = add i32 %three, %sum
  store i32 %new, ptr %pc
  ret void
}

declare i32 @llvm.smin.i32(i32, i32)
declare i32 @llvm.smax.i32(i32, i32)
