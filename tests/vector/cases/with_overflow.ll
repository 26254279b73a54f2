; SPDX-License-Identifier: Apache-2.0
; Sums, differences and products with a bit for overflow.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pa
  %w = load i32, ptr %pb
  %p1 = call { i32, i1 } @llvm.uadd.with.overflow.i32(i32 %v, i32 %w)
  %r1 = extractvalue { i32, i1 } %p1, 0
  %o1 = extractvalue { i32, i1 } %p1, 1
  %p2 = call { i32, i1 } @llvm.ssub.with.overflow.i32(i32 %v, i32 %w)
  %r2 = extractvalue { i32, i1 } %p2, 0
  %o2 = extractvalue { i32, i1 } %p2, 1
  %p3 = call { i32, i1 } @llvm.umul.with.overflow.i32(i32 %v, i32 %w)
  %o3 = extractvalue { i32, i1 } %p3, 1
  %p4 = call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 %x, i32 2147483640)
  %o4 = extractvalue { i32, i1 } %p4, 1
  %z1 = zext i1 %o1 to i32
  %z2 = zext i1 %o2 to i32
  %z3 = zext i1 %o3 to i32
  %z4 = zext i1 %o4 to i32
  %s1 = add i32 %r1, %z1
  %s2 = xor i32 %s1, %r2
  %s3 = add i32 %s2, %z2
  %s4 = shl i32 %s3, 1
  %s5 = add i32 %s4, %z3
  %s6 = shl i32 %s5, 1
  %s7 = add i32 %s6, %z4
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %s7
  store i32 %new.1, ptr %pc
  ret void
}

declare { i32, i1 } @llvm.uadd.with.overflow.i32(i32, i32)
declare { i32, i1 } @llvm.ssub.with.overflow.i32(i32, i32)
declare { i32, i1 } @llvm.umul.with.overflow.i32(i32, i32)
declare { i32, i1 } @llvm.sadd.with.overflow.i32(i32, i32)
