; SPDX-License-Identifier: Apache-2.0
; Values that are the same in all lanes inside of a loop, but not behind it.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  br label %head

head:
  %k = phi i32 [ 0, %0 ], [ %k.next, %again ]
  %u = mul i32 %k, 5
  %aff = add i32 %u, %x
  %hit = icmp eq i32 %k, %v
  br i1 %hit, label %out, label %again

again:
  %k.next = add i32 %k, 1
  br label %head

out:
  %s = add i32 %u, %aff
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %s
  store i32 %new.1, ptr %pc
  ret void
}
