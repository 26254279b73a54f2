; SPDX-License-Identifier: Apache-2.0
; One address for all, where only some lanes may look: for others it is nowhere.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %far = icmp eq i32 %nx, 7
  %off = select i1 %far, i64 1000000, i64 0
  %p = getelementptr i32, ptr %a, i64 %off
  %v = load i32, ptr %pb
  %c0 = icmp ugt i32 %v, 9
  %no = xor i1 %far, true
  %c1 = and i1 %c0, %no
  br i1 %c1, label %do, label %end

do:
  %u = load i32, ptr %p
  %d = udiv i32 %u, %v
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %d
  store i32 %new.1, ptr %pc
  br label %end

end:
  ret void
}
