; SPDX-License-Identifier: Apache-2.0
; Phis that take each other's values: all change at once. Every block writes down that it ran.
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
  %k = phi i32 [ 0, %0 ], [ %k.next, %head ]
  %p = phi i32 [ %x, %0 ], [ %q, %head ]
  %q = phi i32 [ %v, %0 ], [ %p, %head ]
  %o = phi i32 [ 5, %0 ], [ %k, %head ]
  %was.1 = load i32, ptr %pc
  %six.1 = mul i32 %was.1, 6
  %now.1 = add i32 %six.1, 1
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %now.1
  store i32 %new.1, ptr %pc
  %k.next = add i32 %k, 1
  %more = icmp ule i32 %k.next, %v
  br i1 %more, label %head, label %out

out:
  %was.2 = load i32, ptr %pc
  %six.2 = mul i32 %was.2, 6
  %now.2 = add i32 %six.2, 2
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %now.2
  store i32 %new.2, ptr %pc
  %q3 = mul i32 %q, 3
  %r = add i32 %p, %q3
  %r2 = add i32 %r, %o
  %old.3 = load i32, ptr %pc
  %three.3 = mul i32 %old.3, 3
  %new.3 = add i32 %three.3, %r2
  store i32 %new.3, ptr %pc
  ret void
}
