; SPDX-License-Identifier: Apache-2.0
; Vectors of eight short integers, compared and selected.
; arrays: a=16 b=16 c=16

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr <8 x i16>, ptr %a, i64 %i
  %pb = getelementptr <8 x i16>, ptr %b, i64 %i
  %pc = getelementptr <8 x i16>, ptr %c, i64 %i
  %v = load <8 x i16>, ptr %pa, align 16
  %w = load <8 x i16>, ptr %pb, align 16
  %lt = icmp slt <8 x i16> %v, %w
  %m = select <8 x i1> %lt, <8 x i16> %v, <8 x i16> %w
  %c0 = icmp ugt i32 %x, 5
  %r = select i1 %c0, <8 x i16> %m, <8 x i16> %v
  %sum = add <8 x i16> %r, <i16 1, i16 2, i16 3, i16 4, i16 5, i16 6, i16 7, i16 8>
  store <8 x i16> %sum, ptr %pc, align 16
  ret void
}
