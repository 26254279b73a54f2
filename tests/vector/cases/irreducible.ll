; SPDX-License-Identifier: Apache-2.0
; A loop with two entries stays scalar.
; arrays: a=4 b=4:small c=4
; expect: scalar

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %c0 = icmp ugt i32 %v, 7
  br i1 %c0, label %one, label %two

one:
  %k1 = phi i32 [ 0, %0 ], [ %k2.next, %two ]
  %k1.next = add i32 %k1, 1
  %stop1 = icmp ugt i32 %k1.next, 9
  br i1 %stop1, label %out, label %two

two:
  %k2 = phi i32 [ %v, %0 ], [ %k1.next, %one ]
  %k2.next = add i32 %k2, 2
  %stop2 = icmp ugt i32 %k2.next, 12
  br i1 %stop2, label %out, label %one

out:
  %r = phi i32 [ %k1.next, %one ], [ %k2.next, %two ]
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r
  store i32 %new.1, ptr %pc
  ret void
}
