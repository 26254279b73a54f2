; SPDX-License-Identifier: Apache-2.0
; Stores at an index limited to a range, a row of its own for each half: lanes beyond it are not active.
; The index of 64 bits is no extension.
; run: nx=1,7,16,33,96 ny=1,3,4 n=all

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %v = load i32, ptr %pa
  %half = lshr i32 %nx, 1
  %is = icmp ule i32 %x, %half
  br i1 %is, label %do, label %end

do:
  %x64 = zext i32 %x to i64
  %half64 = zext i32 %half to i64
  %row64 = sext i32 %row to i64
  %in = call i64 @llvm.umin.i64(i64 %x64, i64 %half64)
  %index = add i64 %in, %row64
  %p = getelementptr i32, ptr %c, i64 %index
  store i32 %v, ptr %p
  br label %end

end:
  ret void
}

declare i64 @llvm.umin.i64(i64, i64)
