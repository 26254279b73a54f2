; SPDX-License-Identifier: Apache-2.0
; A warp's sum of a row, 32 elements in a turn, as compilers unroll it: a loop for a remainder of the turns, and one
; for four at a time. Whether there is a remainder is asked of two digits of the number of turns before it is known.
; run: nx=7,16,32,96 ny=1,3 n=1,31,64,90,96,128,150,230
; arrays: a=4+1024 b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %before = mul nuw nsw i32 %y, %nx
  %t = add nuw nsw i32 %before, %x
  %is.inside = icmp slt i32 %x, %n
  br i1 %is.inside, label %first, label %end

first:
  %backwards = xor i32 %x, -1
  %left = add nsw i32 %n, %backwards
  %digits = and i32 %left, 96
  %is.whole = icmp eq i32 %digits, 96
  br i1 %is.whole, label %whole, label %some

some:
  %quotient = lshr i32 %left, 5
  %turns = add nuw nsw i32 %quotient, 1
  %rest = and i32 %turns, 3
  br label %one

one:
  %i = phi i32 [ %x, %some ], [ %i.next, %one ]
  %k = phi i32 [ %rest, %some ], [ %k.next, %one ]
  %s = phi i32 [ 0, %some ], [ %s.next, %one ]
  %i.long = zext nneg i32 %i to i64
  %p = getelementptr i32, ptr %a, i64 %i.long
  %v = load i32, ptr %p
  %s3 = mul i32 %s, 3
  %s.next = add i32 %s3, %v
  %i.next = add nuw nsw i32 %i, 32
  %k.next = add nsw i32 %k, -1
  %is.done = icmp eq i32 %k.next, 0
  br i1 %is.done, label %whole, label %one

whole:
  %i0 = phi i32 [ %x, %first ], [ %i.next, %one ]
  %s0 = phi i32 [ 0, %first ], [ %s.next, %one ]
  %is.short = icmp ult i32 %left, 96
  br i1 %is.short, label %end, label %four

four:
  %j = phi i32 [ %i0, %whole ], [ %j.next, %four ]
  %f = phi i32 [ %s0, %whole ], [ %f4, %four ]
  %j.long = zext nneg i32 %j to i64
  %q0 = getelementptr i32, ptr %a, i64 %j.long
  %w0 = load i32, ptr %q0
  %f0 = mul i32 %f, 3
  %f1 = add i32 %f0, %w0
  %q1 = getelementptr i8, ptr %q0, i64 128
  %w1 = load i32, ptr %q1
  %f2 = sub i32 %f1, %w1
  %q2 = getelementptr i8, ptr %q0, i64 256
  %w2 = load i32, ptr %q2
  %f3 = xor i32 %f2, %w2
  %q3 = getelementptr i8, ptr %q0, i64 384
  %w3 = load i32, ptr %q3
  %f4 = add i32 %f3, %w3
  %j.next = add nuw nsw i32 %j, 128
  %again = icmp slt i32 %j.next, %n
  br i1 %again, label %four, label %end

end:
  %sum = phi i32 [ 0, %0 ], [ %s0, %whole ], [ %f4, %four ]
  %t.long = zext nneg i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %t.long
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %sum
  store i32 %new, ptr %pc
  ret void
}
