; SPDX-License-Identifier: Apache-2.0
; A uniform way out of a loop that lanes also leave on their own. Every block writes down that it ran.
; run: n=0,1,5,all
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
  %s = phi i32 [ %v, %0 ], [ %s.next, %again ]
  %was.1 = load i32, ptr %pc
  %six.1 = mul i32 %was.1, 6
  %now.1 = add i32 %six.1, 1
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %now.1
  store i32 %new.1, ptr %pc
  %done = icmp uge i32 %k, %n
  br i1 %done, label %out.all, label %body

body:
  %was.2 = load i32, ptr %pc
  %six.2 = mul i32 %was.2, 6
  %now.2 = add i32 %six.2, 2
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %now.2
  store i32 %new.2, ptr %pc
  %s3 = mul i32 %s, 5
  %s.next = add i32 %s3, 3
  %m = and i32 %s.next, 28
  %hit = icmp eq i32 %m, 0
  br i1 %hit, label %out.lane, label %again

again:
  %was.3 = load i32, ptr %pc
  %six.3 = mul i32 %was.3, 6
  %now.3 = add i32 %six.3, 3
  %old.3 = load i32, ptr %pc
  %three.3 = mul i32 %old.3, 3
  %new.3 = add i32 %three.3, %now.3
  store i32 %new.3, ptr %pc
  %k.next = add i32 %k, 1
  br label %head

out.all:
  %was.4 = load i32, ptr %pc
  %six.4 = mul i32 %was.4, 6
  %now.4 = add i32 %six.4, 4
  %old.4 = load i32, ptr %pc
  %three.4 = mul i32 %old.4, 3
  %new.4 = add i32 %three.4, %now.4
  store i32 %new.4, ptr %pc
  %r1 = add i32 %s, 1000
  br label %end

out.lane:
  %was.5 = load i32, ptr %pc
  %six.5 = mul i32 %was.5, 6
  %now.5 = add i32 %six.5, 5
  %old.5 = load i32, ptr %pc
  %three.5 = mul i32 %old.5, 3
  %new.5 = add i32 %three.5, %now.5
  store i32 %new.5, ptr %pc
  %r2 = add i32 %k, 7
  br label %end

end:
  %r = phi i32 [ %r1, %out.all ], [ %r2, %out.lane ]
  %old.6 = load i32, ptr %pc
  %three.6 = mul i32 %old.6, 3
  %new.6 = add i32 %three.6, %r
  store i32 %new.6, ptr %pc
  ret void
}
