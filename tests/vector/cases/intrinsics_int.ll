; SPDX-License-Identifier: Apache-2.0
; Intrinsics on integers.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pa
  %w = load i32, ptr %pb
  %m1 = call i32 @llvm.umin.i32(i32 %v, i32 %w)
  %m2 = call i32 @llvm.smax.i32(i32 %v, i32 %x)
  %m3 = call i32 @llvm.abs.i32(i32 %w, i1 false)
  %m4 = call i32 @llvm.ctpop.i32(i32 %v)
  %m5 = call i32 @llvm.ctlz.i32(i32 %w, i1 false)
  %m6 = call i32 @llvm.cttz.i32(i32 %x, i1 false)
  %m7 = call i32 @llvm.bswap.i32(i32 %v)
  %m8 = call i32 @llvm.bitreverse.i32(i32 %w)
  %m9 = call i32 @llvm.fshl.i32(i32 %v, i32 %w, i32 %x)
  %m10 = call i32 @llvm.usub.sat.i32(i32 %v, i32 %w)
  %m11 = call i32 @llvm.umax.i32(i32 %y, i32 2)
  %r1 = add i32 %m1, %m2
  %r2 = xor i32 %r1, %m3
  %r3 = add i32 %r2, %m4
  %r4 = xor i32 %r3, %m5
  %r5 = add i32 %r4, %m6
  %r6 = xor i32 %r5, %m7
  %r7 = add i32 %r6, %m8
  %r8 = xor i32 %r7, %m9
  %r9 = add i32 %r8, %m10
  %r10 = xor i32 %r9, %m11
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r10
  store i32 %new.1, ptr %pc
  ret void
}

declare i32 @llvm.umin.i32(i32, i32)
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.abs.i32(i32, i1)
declare i32 @llvm.ctpop.i32(i32)
declare i32 @llvm.ctlz.i32(i32, i1)
declare i32 @llvm.cttz.i32(i32, i1)
declare i32 @llvm.bswap.i32(i32)
declare i32 @llvm.bitreverse.i32(i32)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.usub.sat.i32(i32, i32)
declare i32 @llvm.umax.i32(i32, i32)
