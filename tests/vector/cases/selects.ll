; SPDX-License-Identifier: Apache-2.0
; Selects on conditions of all shapes, between values of all shapes.
; run: n=all,half,1,1000
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %w = load i32, ptr %pa
  %cu = icmp sgt i32 %n, 20
  %cy = icmp ugt i32 %y, 1
  %cx = icmp ugt i32 %x, 3
  %cv = icmp ugt i32 %v, 7
  %s1 = select i1 %cu, i32 %x, i32 %n
  %s2 = select i1 %cy, i32 %v, i32 %w
  %s3 = select i1 %cx, i32 %y, i32 %x
  %s4 = select i1 %cv, i32 %t, i32 %n
  %s5 = select i1 %cu, i32 %t, i32 %x
  %pu = select i1 %cu, ptr %pa, ptr %pb
  %u = load i32, ptr %pu
  %r1 = add i32 %s1, %s2
  %r2 = xor i32 %r1, %s3
  %r3 = add i32 %r2, %s4
  %r4 = xor i32 %r3, %s5
  %r5 = add i32 %r4, %u
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r5
  store i32 %new.1, ptr %pc
  ret void
}
