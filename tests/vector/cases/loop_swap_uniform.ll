; SPDX-License-Identifier: Apache-2.0
; The same in a loop all leave together, with a uniform and an affine phi.
; run: n=1,2,5
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
  %e = phi i32 [ %x, %0 ], [ %f, %head ]
  %f = phi i32 [ %t, %0 ], [ %e, %head ]
  %k.next = add i32 %k, 1
  %more = icmp ult i32 %k.next, %n
  br i1 %more, label %head, label %out

out:
  %q3 = mul i32 %q, 3
  %r = add i32 %p, %q3
  %r2 = sub i32 %e, %f
  %r3 = add i32 %r, %r2
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r3
  store i32 %new.1, ptr %pc
  ret void
}
