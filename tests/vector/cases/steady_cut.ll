; SPDX-License-Identifier: Apache-2.0
; Indices of 64 bits cut to 32, by shifts, in a loop and without.
; run: nx=1,7,16,33,96 ny=1,3 n=1,3,10,50,97,300
; arrays: a=12+4096 b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nuw nsw i32 %y, %nx
  %t = add nuw nsw i32 %row, %x
  %own = zext nneg i32 %t to i64
  %all = mul nuw nsw i32 %nx, %ny
  %step = zext nneg i32 %all to i64
  %end.long = zext nneg i32 %n to i64
  %times = mul i64 %own, 12884901888
  %bytes = ashr exact i64 %times, 30
  %pf = getelementptr i8, ptr %a, i64 %bytes
  %pf2 = getelementptr i8, ptr %pf, i64 8
  %vf = load i32, ptr %pf
  %vf2 = load i32, ptr %pf2
  %first = sub i32 %vf, %vf2
  %is.some = icmp ult i64 %own, %end.long
  br i1 %is.some, label %turn, label %end

turn:
  %i = phi i64 [ %own, %0 ], [ %i.next, %turn ]
  %s = phi i32 [ %first, %0 ], [ %s.next, %turn ]
  %i3 = mul i64 %i, 12884901888
  %at = ashr exact i64 %i3, 30
  %p = getelementptr i8, ptr %a, i64 %at
  %p1 = getelementptr i8, ptr %p, i64 4
  %v = load i32, ptr %p
  %v1 = load i32, ptr %p1
  %s3 = mul i32 %s, 3
  %v01 = xor i32 %v, %v1
  %s.next = add i32 %s3, %v01
  %i.next = add nuw nsw i64 %i, %step
  %more = icmp samesign ult i64 %i.next, %end.long
  br i1 %more, label %turn, label %end

end:
  %sum = phi i32 [ %first, %0 ], [ %s.next, %turn ]
  %pc = getelementptr i32, ptr %c, i64 %own
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %sum
  store i32 %new, ptr %pc
  ret void
}
