; SPDX-License-Identifier: Apache-2.0
; Neighbours in a row whose ends are neighbours, too: by a choice on both sides, by a remainder, by a mask,
; by a truth that is added, and a difference that is not below 0.
; arrays: a=4:small b=4+16 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %last = add nsw i32 %nx, -1
  %is.first = icmp eq i32 %x, 0
  %before = add nsw i32 %x, -1
  %left = select i1 %is.first, i32 %last, i32 %before
  %is.last = icmp eq i32 %x, %last
  %behind = add nsw i32 %x, 1
  %right = select i1 %is.last, i32 0, i32 %behind
  %two = add nsw i32 %x, 2
  %rest = urem i32 %two, %nx
  %masked = and i32 %before, 15
  %inside = icmp ne i32 %x, %last
  %one = zext i1 %inside to i32
  %beside = add nsw i32 %x, %one
  %low = call i32 @llvm.usub.sat.i32(i32 %x, i32 3)
  %l = add nsw i32 %row, %left
  %l64 = sext i32 %l to i64
  %pl = getelementptr i32, ptr %a, i64 %l64
  %r = add nsw i32 %row, %right
  %r64 = sext i32 %r to i64
  %pr = getelementptr i32, ptr %b, i64 %r64
  %q = add nsw i32 %row, %rest
  %q64 = zext nneg i32 %q to i64
  %pq = getelementptr i32, ptr %a, i64 %q64
  %m64 = zext nneg i32 %masked to i64
  %pm = getelementptr i8, ptr %b, i64 %m64
  %s = add nsw i32 %row, %beside
  %s64 = sext i32 %s to i64
  %ps = getelementptr i32, ptr %a, i64 %s64
  %w = add nsw i32 %row, %low
  %w64 = sext i32 %w to i64
  %pw = getelementptr i16, ptr %b, i64 %w64
  %vl = load i32, ptr %pl
  %vr = load i32, ptr %pr
  %vq = load i32, ptr %pq
  %byte = load i8, ptr %pm
  %vm = zext i8 %byte to i32
  %vs = load i32, ptr %ps
  %half = load i16, ptr %pw
  %vw = sext i16 %half to i32
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %s1 = add i32 %three, %vl
  %vr2 = mul i32 %vr, 5
  %s2 = add i32 %s1, %vr2
  %vq2 = mul i32 %vq, 7
  %s3 = add i32 %s2, %vq2
  %vm2 = mul i32 %vm, 11
  %s4 = add i32 %s3, %vm2
  %vs2 = mul i32 %vs, 13
  %s5 = add i32 %s4, %vs2
  %vw2 = mul i32 %vw, 17
  %new = add i32 %s5, %vw2
  store i32 %new, ptr %pc
  ret void
}

declare i32 @llvm.usub.sat.i32(i32, i32)
