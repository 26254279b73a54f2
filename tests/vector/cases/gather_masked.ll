; SPDX-License-Identifier: Apache-2.0
; A gather under a mask: indices of other lanes lead nowhere.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pa
  %c0 = icmp ult i32 %v, -2147483648
  %big = mul i32 %v, 268435456
  %wild = select i1 %c0, i32 %x, i32 %big
  %w64 = sext i32 %wild to i64
  %p = getelementptr i32, ptr %b, i64 %w64
  br i1 %c0, label %do, label %end

do:
  %w = load i32, ptr %p
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %w
  store i32 %new.1, ptr %pc
  br label %end

end:
  ret void
}
