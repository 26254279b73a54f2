; SPDX-License-Identifier: Apache-2.0
; A uniform way out of a loop that lanes also leave on their own.
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
  %done = icmp uge i32 %k, %n
  br i1 %done, label %out.all, label %body

body:
  %s3 = mul i32 %s, 5
  %s.next = add i32 %s3, 3
  %m = and i32 %s.next, 28
  %hit = icmp eq i32 %m, 0
  br i1 %hit, label %out.lane, label %again

again:
  %k.next = add i32 %k, 1
  br label %head

out.all:
  %r1 = add i32 %s, 1000
  br label %end

out.lane:
  %r2 = add i32 %k, 7
  br label %end

end:
  %r = phi i32 [ %r1, %out.all ], [ %r2, %out.lane ]
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %r
  store i32 %new.1, ptr %pc
  ret void
}
