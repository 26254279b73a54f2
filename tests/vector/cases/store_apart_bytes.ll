; SPDX-License-Identifier: Apache-2.0
; Words that lie far apart, stored by those lanes whose byte is zero. LLVM 22 shifts the comparison's
; last lane to the beginning together with what it has of elements that there are no lanes for.
; arrays: a=3+64:small b=4 c=64+64

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %three = mul nsw i32 %t, 3
  %at = add nsw i32 %three, 37
  %at.long = sext i32 %at to i64
  %pa = getelementptr i8, ptr %a, i64 %at.long
  %v = load i8, ptr %pa
  %is.zero = icmp eq i8 %v, 0
  br i1 %is.zero, label %store, label %end

store:
  %t.long = sext i32 %t to i64
  %far = shl nsw i64 %t.long, 6
  %pc = getelementptr i8, ptr %c, i64 %far
  store <2 x i32> zeroinitializer, ptr %pc, align 8
  br label %end

end:
  ret void
}
