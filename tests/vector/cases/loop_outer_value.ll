; SPDX-License-Identifier: Apache-2.0
; A value of the outer loop that inner divergent loops read and change.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  br label %outer

outer:
  %i1 = phi i32 [ 0, %0 ], [ %i1.next, %outer.next ]
  %acc = phi i32 [ %v, %0 ], [ %acc.out, %outer.next ]
  br label %inner

inner:
  %acc.in = phi i32 [ %acc, %outer ], [ %acc.next, %inner ]
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  %j.next = add nuw nsw i32 %j, 1
  %acc3 = mul i32 %acc.in, 3
  %acc.next = add i32 %acc3, %i1
  %low = and i32 %acc.next, 12
  %on = icmp ne i32 %low, 0
  %few = icmp ult i32 %j.next, 6
  %more2 = and i1 %on, %few
  br i1 %more2, label %inner, label %inner.out

inner.out:
  %acc.out = phi i32 [ %acc.next, %inner ]
  br label %outer.next

outer.next:
  %i1.next = add i32 %i1, 1
  %more1 = icmp ult i32 %i1.next, 4
  br i1 %more1, label %outer, label %out

out:
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %acc.out
  store i32 %new.1, ptr %pc
  ret void
}
