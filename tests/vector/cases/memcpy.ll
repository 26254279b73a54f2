; SPDX-License-Identifier: Apache-2.0
; Copies of a few bytes, as a call.
; arrays: a=24 b=4 c=24

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr { i64, i64, i64 }, ptr %a, i64 %i
  %pc = getelementptr { i64, i64, i64 }, ptr %c, i64 %i
  call void @llvm.memcpy.p0.p0.i64(ptr %pc, ptr %pa, i64 24, i1 false)
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
