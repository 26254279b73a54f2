; SPDX-License-Identifier: Apache-2.0
; Divergent loops in a divergent loop, with breaks and continues. Every block writes down that it ran.
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
  %was.1 = load i32, ptr %pc
  %six.1 = mul i32 %was.1, 6
  %now.1 = add i32 %six.1, 1
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %now.1
  store i32 %new.1, ptr %pc
  %more1 = icmp ule i32 %i1, %v
  br i1 %more1, label %outer.body, label %out

outer.body:
  %was.2 = load i32, ptr %pc
  %six.2 = mul i32 %was.2, 6
  %now.2 = add i32 %six.2, 2
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %now.2
  store i32 %new.2, ptr %pc
  %bit = and i32 %i1, 3
  %skip = icmp eq i32 %bit, 2
  br i1 %skip, label %outer.again, label %inner

inner:
  %j = phi i32 [ 0, %outer.body ], [ %j.next, %inner.again ]
  %s = phi i32 [ %sum, %outer.body ], [ %s.again, %inner.again ]
  %was.3 = load i32, ptr %pc
  %six.3 = mul i32 %was.3, 6
  %now.3 = add i32 %six.3, 3
  %old.3 = load i32, ptr %pc
  %three.3 = mul i32 %old.3, 3
  %new.3 = add i32 %three.3, %now.3
  store i32 %new.3, ptr %pc
  %lim = add i32 %i1, %x
  %lim7 = and i32 %lim, 7
  %more2 = icmp ult i32 %j, %lim7
  br i1 %more2, label %inner.body, label %inner.out

inner.body:
  %was.4 = load i32, ptr %pc
  %six.4 = mul i32 %was.4, 6
  %now.4 = add i32 %six.4, 4
  %old.4 = load i32, ptr %pc
  %three.4 = mul i32 %old.4, 3
  %new.4 = add i32 %three.4, %now.4
  store i32 %new.4, ptr %pc
  %jj = mul i32 %j, %i1
  %s1 = add i32 %s, %jj
  %m5 = urem i32 %s1, 5
  switch i32 %m5, label %inner.rest [
    i32 0, label %inner.again
    i32 3, label %inner.out
  ]

inner.rest:
  %was.5 = load i32, ptr %pc
  %six.5 = mul i32 %was.5, 6
  %now.5 = add i32 %six.5, 5
  %old.5 = load i32, ptr %pc
  %three.5 = mul i32 %old.5, 3
  %new.5 = add i32 %three.5, %now.5
  store i32 %new.5, ptr %pc
  %w = load i32, ptr %pa
  %s2 = xor i32 %s1, %w
  br label %inner.again

inner.again:
  %s.again = phi i32 [ %s1, %inner.body ], [ %s2, %inner.rest ]
  %was.6 = load i32, ptr %pc
  %six.6 = mul i32 %was.6, 6
  %now.6 = add i32 %six.6, 6
  %old.6 = load i32, ptr %pc
  %three.6 = mul i32 %old.6, 3
  %new.6 = add i32 %three.6, %now.6
  store i32 %new.6, ptr %pc
  %j.next = add i32 %j, 1
  br label %inner

inner.out:
  %s.out = phi i32 [ %s, %inner ], [ %s1, %inner.body ]
  %was.7 = load i32, ptr %pc
  %six.7 = mul i32 %was.7, 6
  %now.7 = add i32 %six.7, 7
  %old.7 = load i32, ptr %pc
  %three.7 = mul i32 %old.7, 3
  %new.7 = add i32 %three.7, %now.7
  store i32 %new.7, ptr %pc
  %big = icmp ugt i32 %s.out, -16
  br i1 %big, label %out, label %outer.again

outer.again:
  %sum.again = phi i32 [ %sum, %outer.body ], [ %s.out, %inner.out ]
  %was.8 = load i32, ptr %pc
  %six.8 = mul i32 %was.8, 6
  %now.8 = add i32 %six.8, 8
  %old.8 = load i32, ptr %pc
  %three.8 = mul i32 %old.8, 3
  %new.8 = add i32 %three.8, %now.8
  store i32 %new.8, ptr %pc
  %i1.next = add i32 %i1, 1
  br label %outer

out:
  %r = phi i32 [ %sum, %outer ], [ %s.out, %inner.out ]
  %was.9 = load i32, ptr %pc
  %six.9 = mul i32 %was.9, 6
  %now.9 = add i32 %six.9, 9
  %old.9 = load i32, ptr %pc
  %three.9 = mul i32 %old.9, 3
  %new.9 = add i32 %three.9, %now.9
  store i32 %new.9, ptr %pc
  %old.10 = load i32, ptr %pc
  %three.10 = mul i32 %old.10, 3
  %new.10 = add i32 %three.10, %r
  store i32 %new.10, ptr %pc
  ret void
}
