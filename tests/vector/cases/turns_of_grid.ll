; SPDX-License-Identifier: Apache-2.0
; A loop over the grid as compilers unroll it, and what it has found is stored by all: a loop for a remainder of the
; turns, and one for four at a time. The number of turns is a quotient, of 64 bits, behind the question whether a thread
; has any.
; run: nx=7,16,32,96 ny=1,3 n=1,31,64,90,96,128,150,230,700
; arrays: a=4+8192 b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %before = mul nuw nsw i32 %y, %nx
  %t = add nuw nsw i32 %before, %x
  %t.long = zext nneg i32 %t to i64
  %end.long = zext nneg i32 %n to i64
  %is.inside = icmp ult i64 %t.long, %end.long
  br i1 %is.inside, label %first, label %end

first:
  %all = mul nuw nsw i32 %nx, %ny
  %step = zext nneg i32 %all to i64
  %backwards = xor i64 %t.long, -1
  %left = add nsw i64 %end.long, %backwards
  %turns = udiv i64 %left, %step
  %digits = and i64 %turns, 3
  %is.whole = icmp eq i64 %digits, 3
  br i1 %is.whole, label %whole, label %some

some:
  %more = add nuw nsw i64 %turns, 1
  %rest = and i64 %more, 3
  br label %one

one:
  %i = phi i64 [ %t.long, %some ], [ %i.next, %one ]
  %k = phi i64 [ %rest, %some ], [ %k.next, %one ]
  %s = phi i32 [ 0, %some ], [ %s.next, %one ]
  %p = getelementptr i32, ptr %a, i64 %i
  %v = load i32, ptr %p
  %s3 = mul i32 %s, 3
  %s.next = add i32 %s3, %v
  %i.next = add nuw nsw i64 %i, %step
  %k.next = add nsw i64 %k, -1
  %is.done = icmp eq i64 %k.next, 0
  br i1 %is.done, label %whole, label %one

whole:
  %i0 = phi i64 [ %t.long, %first ], [ %i.next, %one ]
  %s0 = phi i32 [ 0, %first ], [ %s.next, %one ]
  %is.short = icmp ult i64 %turns, 3
  br i1 %is.short, label %end, label %four

four:
  %j = phi i64 [ %i0, %whole ], [ %j4, %four ]
  %f = phi i32 [ %s0, %whole ], [ %f4, %four ]
  %q0 = getelementptr i32, ptr %a, i64 %j
  %w0 = load i32, ptr %q0
  %f0 = mul i32 %f, 3
  %f1 = add i32 %f0, %w0
  %j1 = add nuw nsw i64 %j, %step
  %q1 = getelementptr i32, ptr %a, i64 %j1
  %w1 = load i32, ptr %q1
  %f2 = sub i32 %f1, %w1
  %j2 = add nuw nsw i64 %j1, %step
  %q2 = getelementptr i32, ptr %a, i64 %j2
  %w2 = load i32, ptr %q2
  %f3 = xor i32 %f2, %w2
  %j3 = add nuw nsw i64 %j2, %step
  %q3 = getelementptr i32, ptr %a, i64 %j3
  %w3 = load i32, ptr %q3
  %f4 = add i32 %f3, %w3
  %j4 = add nuw nsw i64 %j3, %step
  %again = icmp slt i64 %j4, %end.long
  br i1 %again, label %four, label %end

end:
  %sum = phi i32 [ 0, %0 ], [ %s0, %whole ], [ %f4, %four ]
  %pc = getelementptr i32, ptr %c, i64 %t.long
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %sum
  store i32 %new, ptr %pc
  ret void
}
