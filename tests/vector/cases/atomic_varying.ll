; SPDX-License-Identifier: Apache-2.0
; Atomics at each lane's own address, with results, and at shared ones.
; arrays: a=4 b=4:small c=4+64

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %q = getelementptr i32, ptr %pc, i64 16
  %o1 = atomicrmw xchg ptr %q, i32 %v seq_cst, align 4
  %v64 = zext i32 %v to i64
  %h = getelementptr i32, ptr %c, i64 %v64
  %o2 = atomicrmw add ptr %h, i32 %x monotonic, align 4
  %c0 = icmp ugt i32 %v, 9
  br i1 %c0, label %do, label %end

do:
  %pair = cmpxchg ptr %q, i32 %v, i32 %o1 acq_rel monotonic, align 4
  %old = extractvalue { i32, i1 } %pair, 0
  %ok = extractvalue { i32, i1 } %pair, 1
  %z = zext i1 %ok to i32
  %s = add i32 %old, %z
  %o3 = atomicrmw sub ptr %q, i32 %s monotonic, align 4
  fence acquire
  %l = load atomic i32, ptr %q monotonic, align 4
  %l2 = mul i32 %l, 3
  store atomic i32 %l2, ptr %q release, align 4
  br label %end

end:
  ret void
}
