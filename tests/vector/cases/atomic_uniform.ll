; SPDX-License-Identifier: Apache-2.0
; Atomics at one address: each lane adds.
; arrays: a=4 b=4:small c=0+12

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %v = load i32, ptr %pb
  %o1 = atomicrmw add ptr %c, i32 %v monotonic, align 4
  %less = sub i32 20, %v
  %much = mul i32 %less, 1000
  %most = add i32 %much, %t
  %c0 = icmp ugt i32 %v, 9
  br i1 %c0, label %do, label %end

do:
  %q = getelementptr i32, ptr %c, i64 1
  %o2 = atomicrmw add ptr %q, i32 1 monotonic, align 4
  %q2 = getelementptr i32, ptr %c, i64 2
  %o3 = atomicrmw umax ptr %q2, i32 %most monotonic, align 4
  br label %end

end:
  ret void
}
