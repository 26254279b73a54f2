; SPDX-License-Identifier: Apache-2.0
; Turns from a quotient of which only the second thread's is not 0, because its dividend is 2^32 - 1:
; the first thread and the last agree, and not those between.
; run: nx=1,7,16,33,96 ny=1,3 n=1

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %from = add i32 %x, -2
  %huge = sub i32 0, %n
  %quotient = udiv i32 %from, %huge
  br label %head

head:
  %k = phi i32 [ 0, %0 ], [ %k.next, %head ]
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %k
  store i32 %new, ptr %pc
  %k.next = add i32 %k, 1
  %on = icmp ule i32 %k.next, %quotient
  br i1 %on, label %head, label %out

out:
  ret void
}
