; SPDX-License-Identifier: Apache-2.0
; Whether any lane comes: the first one or the last one decides, of what rises and of what falls.
; run: nx=1,16,33,96 ny=1,3 n=1,5,row,64
; arrays: a=4:small b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nuw nsw i32 %y, %nx
  %t = add nuw nsw i32 %row, %x
  %i = zext nneg i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %x.2 = shl nuw nsw i32 %x, 1
  %falls = sub nsw i32 %n, %x
  %c0 = icmp slt i32 %x, %n
  br i1 %c0, label %then.0, label %meet.0

then.0:
  %v.0 = load i32, ptr %pa
  %old.0 = load i32, ptr %pb
  %three.0 = mul i32 %old.0, 3
  %sum.0 = add i32 %three.0, %v.0
  %new.0 = add i32 %sum.0, 1
  store i32 %new.0, ptr %pb
  br label %meet.0

meet.0:
  %c1 = icmp sge i32 %x, %n
  br i1 %c1, label %then.1, label %meet.1

then.1:
  %v.1 = load i32, ptr %pa
  %old.1 = load i32, ptr %pb
  %three.1 = mul i32 %old.1, 3
  %sum.1 = add i32 %three.1, %v.1
  %new.1 = add i32 %sum.1, 3
  store i32 %new.1, ptr %pb
  br label %meet.1

meet.1:
  %c2 = icmp sgt i32 %n, %x.2
  br i1 %c2, label %then.2, label %meet.2

then.2:
  %v.2 = load i32, ptr %pa
  %old.2 = load i32, ptr %pb
  %three.2 = mul i32 %old.2, 3
  %sum.2 = add i32 %three.2, %v.2
  %new.2 = add i32 %sum.2, 5
  store i32 %new.2, ptr %pb
  br label %meet.2

meet.2:
  %c3 = icmp sle i32 %n, %x
  br i1 %c3, label %then.3, label %meet.3

then.3:
  %v.3 = load i32, ptr %pa
  %old.3 = load i32, ptr %pb
  %three.3 = mul i32 %old.3, 3
  %sum.3 = add i32 %three.3, %v.3
  %new.3 = add i32 %sum.3, 7
  store i32 %new.3, ptr %pb
  br label %meet.3

meet.3:
  %c4 = icmp slt i32 %falls, 3
  br i1 %c4, label %then.4, label %meet.4

then.4:
  %v.4 = load i32, ptr %pa
  %old.4 = load i32, ptr %pb
  %three.4 = mul i32 %old.4, 3
  %sum.4 = add i32 %three.4, %v.4
  %new.4 = add i32 %sum.4, 9
  store i32 %new.4, ptr %pb
  br label %meet.4

meet.4:
  %c5 = icmp sgt i32 %falls, 3
  br i1 %c5, label %then.5, label %meet.5

then.5:
  %v.5 = load i32, ptr %pa
  %old.5 = load i32, ptr %pb
  %three.5 = mul i32 %old.5, 3
  %sum.5 = add i32 %three.5, %v.5
  %new.5 = add i32 %sum.5, 11
  store i32 %new.5, ptr %pb
  br label %meet.5

meet.5:
  %c6 = icmp samesign ult i32 %x.2, %n
  br i1 %c6, label %then.6, label %meet.6

then.6:
  %v.6 = load i32, ptr %pa
  %old.6 = load i32, ptr %pb
  %three.6 = mul i32 %old.6, 3
  %sum.6 = add i32 %three.6, %v.6
  %new.6 = add i32 %sum.6, 13
  store i32 %new.6, ptr %pb
  br label %meet.6

meet.6:
  %c7 = icmp samesign ugt i32 %x, %n
  br i1 %c7, label %then.7, label %meet.7

then.7:
  %v.7 = load i32, ptr %pa
  %old.7 = load i32, ptr %pb
  %three.7 = mul i32 %old.7, 3
  %sum.7 = add i32 %three.7, %v.7
  %new.7 = add i32 %sum.7, 15
  store i32 %new.7, ptr %pb
  br label %meet.7

meet.7:
  br label %loop

loop:
  %j = phi i32 [ %x, %meet.7 ], [ %j.next, %loop ]
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %j
  store i32 %new, ptr %pc
  %j.next = add nuw nsw i32 %j, 16
  %more = icmp samesign ult i32 %j.next, %n
  br i1 %more, label %loop, label %back

back:
  %k = phi i32 [ %falls, %loop ], [ %k.next, %back ]
  %old.k = load i32, ptr %pc
  %three.k = mul i32 %old.k, 3
  %new.k = add i32 %three.k, %k
  store i32 %new.k, ptr %pc
  %k.next = sub nsw i32 %k, 16
  %more.k = icmp sge i32 %k.next, 0
  br i1 %more.k, label %back, label %out

out:
  ret void
}
