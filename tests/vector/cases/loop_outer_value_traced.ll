; SPDX-License-Identifier: Apache-2.0
; A value of the outer loop that inner divergent loops read and change. Every block writes down that it ran.
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
  %was.1 = load i32, ptr %pc
  %six.1 = mul i32 %was.1, 6
  %now.1 = add i32 %six.1, 1
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %now.1
  store i32 %new.1, ptr %pc
  br label %inner

inner:
  %acc.in = phi i32 [ %acc, %outer ], [ %acc.next, %inner ]
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  %was.2 = load i32, ptr %pc
  %six.2 = mul i32 %was.2, 6
  %now.2 = add i32 %six.2, 2
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %now.2
  store i32 %new.2, ptr %pc
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
  %was.3 = load i32, ptr %pc
  %six.3 = mul i32 %was.3, 6
  %now.3 = add i32 %six.3, 3
  %old.3 = load i32, ptr %pc
  %three.3 = mul i32 %old.3, 3
  %new.3 = add i32 %three.3, %now.3
  store i32 %new.3, ptr %pc
  br label %outer.next

outer.next:
  %was.4 = load i32, ptr %pc
  %six.4 = mul i32 %was.4, 6
  %now.4 = add i32 %six.4, 4
  %old.4 = load i32, ptr %pc
  %three.4 = mul i32 %old.4, 3
  %new.4 = add i32 %three.4, %now.4
  store i32 %new.4, ptr %pc
  %i1.next = add i32 %i1, 1
  %more1 = icmp ult i32 %i1.next, 4
  br i1 %more1, label %outer, label %out

out:
  %was.5 = load i32, ptr %pc
  %six.5 = mul i32 %was.5, 6
  %now.5 = add i32 %six.5, 5
  %old.5 = load i32, ptr %pc
  %three.5 = mul i32 %old.5, 3
  %new.5 = add i32 %three.5, %now.5
  store i32 %new.5, ptr %pc
  %old.6 = load i32, ptr %pc
  %three.6 = mul i32 %old.6, 3
  %new.6 = add i32 %three.6, %acc.out
  store i32 %new.6, ptr %pc
  ret void
}
