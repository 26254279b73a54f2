; SPDX-License-Identifier: Apache-2.0
; Divergent loops in a divergent loop, with breaks and continues.
; run: nx=1,7,16,33,96 ny=1,3,4
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  br label %outer

outer:
  %i1 = phi i32 [ 0, %0 ], [ %i1.next, %outer.again ]
  %sum = phi i32 [ %x, %0 ], [ %sum.again, %outer.again ]
  %more1 = icmp ule i32 %i1, %v
  br i1 %more1, label %outer.body, label %out

outer.body:
  %bit = and i32 %i1, 3
  %skip = icmp eq i32 %bit, 2
  br i1 %skip, label %outer.again, label %inner

inner:
  %j = phi i32 [ 0, %outer.body ], [ %j.next, %inner.again ]
  %s = phi i32 [ %sum, %outer.body ], [ %s.again, %inner.again ]
  %lim = add i32 %i1, %x
  %lim7 = and i32 %lim, 7
  %more2 = icmp ult i32 %j, %lim7
  br i1 %more2, label %inner.body, label %inner.out

inner.body:
  %jj = mul i32 %j, %i1
  %s1 = add i32 %s, %jj
  %m5 = urem i32 %s1, 5
  switch i32 %m5, label %inner.rest [
    i32 0, label %inner.again
    i32 3, label %inner.out
  ]

inner.rest:
  %w = load i32, ptr %pa
  %s2 = xor i32 %s1, %w
  br label %inner.again

inner.again:
  %s.again = phi i32 [ %s1, %inner.body ], [ %s2, %inner.rest ]
  %j.next = add i32 %j, 1
  br label %inner

inner.out:
  %s.out = phi i32 [ %s, %inner ], [ %s1, %inner.body ]
  %big = icmp ugt i32 %s.out, -16
  br i1 %big, label %out, label %outer.again

outer.again:
  %sum.again = phi i32 [ %sum, %outer.body ], [ %s.out, %inner.out ]
  %i1.next = add i32 %i1, 1
  br label %outer

out:
  %r = phi i32 [ %sum, %outer ], [ %s.out, %inner.out ]
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r
  store i32 %new.1, ptr %pc
  ret void
}
