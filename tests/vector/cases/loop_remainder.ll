; SPDX-License-Identifier: Apache-2.0
; A loop over more elements than there are threads, unrolled as nvcc does it: a remainder of 0 to 3
; turns, then four at a time. Threads before some place make one turn more than the others.
; run: nx=1,7,16,33,96 ny=1,3,4 n=all,half,1,1000
; arrays: a=4 b=4+4000 c=4+4000

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %place = add nsw i32 %row, %x
  %threads = mul nuw nsw i32 %nx, %ny
  %step = shl nuw nsw i32 %threads, 2
  %step64 = sext i32 %step to i64
  %inside = icmp slt i32 %place, %n
  br i1 %inside, label %count, label %out

count:
  %not = xor i32 %place, -1
  %left = add nsw i32 %n, %not
  %quotient = udiv i32 %left, %threads
  %turns = add nuw nsw i32 %quotient, 1
  %few = and i32 %turns, 3
  %none = icmp eq i32 %few, 0
  %p64 = sext i32 %place to i64
  %pb = getelementptr i32, ptr %b, i64 %p64
  %pc = getelementptr i32, ptr %c, i64 %p64
  br i1 %none, label %many, label %single

single:
  %at.b = phi ptr [ %pb, %count ], [ %next.b, %single ]
  %at.c = phi ptr [ %pc, %count ], [ %next.c, %single ]
  %to.go = phi i32 [ %few, %count ], [ %to.go.next, %single ]
  %where = phi i32 [ %place, %count ], [ %where.next, %single ]
  %v = load i32, ptr %at.b
  %old = load i32, ptr %at.c
  %three = mul i32 %old, 3
  %new = add i32 %three, %v
  store i32 %new, ptr %at.c
  %next.b = getelementptr i8, ptr %at.b, i64 %step64
  %next.c = getelementptr i8, ptr %at.c, i64 %step64
  %where.next = add nuw nsw i32 %where, %threads
  %to.go.next = add i32 %to.go, -1
  %done = icmp eq i32 %to.go.next, 0
  br i1 %done, label %many, label %single

many:
  %where.now = phi i32 [ %place, %count ], [ %where.next, %single ]
  %no.more = icmp ult i32 %quotient, 3
  br i1 %no.more, label %out, label %four

four:
  %w = phi i32 [ %where.now, %many ], [ %w.next, %four ]
  %w64 = sext i32 %w to i64
  %f.b = getelementptr i32, ptr %b, i64 %w64
  %f.c = getelementptr i32, ptr %c, i64 %w64
  %v0 = load i32, ptr %f.b
  %old0 = load i32, ptr %f.c
  %three0 = mul i32 %old0, 5
  %new0 = add i32 %three0, %v0
  store i32 %new0, ptr %f.c
  %f.b1 = getelementptr i8, ptr %f.b, i64 %step64
  %f.c1 = getelementptr i8, ptr %f.c, i64 %step64
  %v1 = load i32, ptr %f.b1
  %old1 = load i32, ptr %f.c1
  %three1 = mul i32 %old1, 7
  %new1 = add i32 %three1, %v1
  store i32 %new1, ptr %f.c1
  %f.b2 = getelementptr i8, ptr %f.b1, i64 %step64
  %f.c2 = getelementptr i8, ptr %f.c1, i64 %step64
  %v2 = load i32, ptr %f.b2
  store i32 %v2, ptr %f.c2
  %f.b3 = getelementptr i8, ptr %f.b2, i64 %step64
  %f.c3 = getelementptr i8, ptr %f.c2, i64 %step64
  %v3 = load i32, ptr %f.b3
  store i32 %v3, ptr %f.c3
  %w.next = add nuw nsw i32 %w, %step
  %on = icmp slt i32 %w.next, %n
  br i1 %on, label %four, label %out

out:
  ret void
}
