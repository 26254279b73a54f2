; SPDX-License-Identifier: Apache-2.0
; Pairs at indices that go on in loops: to an end of their own, and for as many turns as something else counts, down to
; zero.
; run: nx=1,7,16,33,96 ny=1,3 n=0,1,3,10,50,96,97,300
; arrays: a=8+4096 b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul i32 %y, %nx
  %t = add i32 %row, %x
  %own = zext i32 %t to i64
  %step = mul i32 %nx, %ny
  %any = icmp slt i32 %t, %n
  br i1 %any, label %behind, label %third

behind:
  %i = phi i32 [ %t, %0 ], [ %i.next, %behind ]
  %s = phi i32 [ 1, %0 ], [ %s.next, %behind ]
  %i2 = mul i32 %i, 2
  %i64 = sext i32 %i2 to i64
  %p = getelementptr i32, ptr %a, i64 %i64
  %p1 = getelementptr i8, ptr %p, i64 4
  %v = load i32, ptr %p
  %v1 = load i32, ptr %p1
  %s3 = mul i32 %s, 3
  %v01 = sub i32 %v, %v1
  %s.next = add i32 %s3, %v01
  %i.next = add i32 %i, %step
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %behind, label %third

third:
  %u = phi i32 [ 1, %0 ], [ %s.next, %behind ]
  %rest = and i32 %n, 3
  %none = icmp eq i32 %rest, 0
  %t2 = mul i32 %t, 2
  br i1 %none, label %end, label %counted

counted:
  %k = phi i32 [ %rest, %third ], [ %k.next, %counted ]
  %m = phi i32 [ %t2, %third ], [ %m.next, %counted ]
  %f = phi i32 [ %u, %third ], [ %f.next, %counted ]
  %m64 = sext i32 %m to i64
  %r = getelementptr i32, ptr %a, i64 %m64
  %r1 = getelementptr i8, ptr %r, i64 4
  %z = load i32, ptr %r
  %z1 = load i32, ptr %r1
  %f3 = mul i32 %f, 7
  %z01 = add i32 %z, %z1
  %f.next = add i32 %f3, %z01
  %m.next = add i32 %m, 6
  %k.next = add i32 %k, -1
  %is.done = icmp eq i32 %k.next, 0
  br i1 %is.done, label %end, label %counted

end:
  %sum = phi i32 [ %u, %third ], [ %f.next, %counted ]
  %pc = getelementptr i32, ptr %c, i64 %own
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %sum
  store i32 %new, ptr %pc
  ret void
}
