; SPDX-License-Identifier: Apache-2.0
; Vectors of small integers as one wide integer, and back.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load <4 x i8>, ptr %pa, align 4
  %bits = bitcast <4 x i8> %v to i32
  %r = add i32 %bits, 257
  %back = bitcast i32 %r to <4 x i8>
  %h = bitcast <4 x i8> %back to <2 x half>
  %e = extractelement <2 x half> %h, i32 1
  %eb = bitcast half %e to i16
  %ez = zext i16 %eb to i32
  %w = xor i32 %ez, %r
  %f = bitcast i32 %w to float
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %bits.1 = bitcast float %f to i32
  %new.1 = add i32 %three.1, %bits.1
  store i32 %new.1, ptr %pc
  ret void
}
