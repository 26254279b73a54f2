; SPDX-License-Identifier: Apache-2.0
; Conditions as numbers and in memory.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %v = load i32, ptr %pb
  %c0 = icmp ugt i32 %v, 7
  %c1 = icmp eq i32 %x, 3
  %c2 = xor i1 %c0, %c1
  %c3 = select i1 %c0, i1 %c1, i1 %c2
  %c4 = or i1 %c3, %c2
  %z = zext i1 %c4 to i8
  %s = sext i1 %c3 to i16
  %q = getelementptr { i8, i8, i16 }, ptr %c, i64 %i
  store i8 %z, ptr %q
  %q1 = getelementptr { i8, i8, i16 }, ptr %c, i64 %i, i32 1
  %tr = trunc i32 %v to i1
  %tz = zext i1 %tr to i8
  store i8 %tz, ptr %q1
  %q2 = getelementptr { i8, i8, i16 }, ptr %c, i64 %i, i32 2
  store i16 %s, ptr %q2
  ret void
}
