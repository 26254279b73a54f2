; SPDX-License-Identifier: Apache-2.0
; Every n-th element up to a limit that all threads share: loads ask for what comes some iterations later.
; run: nx=16,33,96 ny=1,2,3 n=all
; arrays: a=64:small b=32 c=64

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %all = mul i32 %n, 16
  %limit = sub i32 %all, 22
  br label %loop

loop:
  %i = phi i32 [ %t, %0 ], [ %i.next, %loop ]
  %at = zext i32 %i to i64
  %pa = getelementptr i32, ptr %a, i64 %at
  %pc = getelementptr i32, ptr %c, i64 %at
  %v = load i32, ptr %pa
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %v
  store i32 %new, ptr %pc
  %i.next = add i32 %i, %n
  %more = icmp ult i32 %i.next, %limit
  br i1 %more, label %loop, label %wide

wide:
  %first = sext i32 %t to i64
  %step = zext i32 %n to i64
  %all.pairs = shl i64 %step, 2
  %end = sub i64 %all.pairs, 22
  %base = ptrtoint ptr %b to i64
  %first.bytes = shl i64 %first, 3
  %begin = add i64 %base, %first.bytes
  %step.bytes = shl i64 %step, 3
  br label %again

again:
  %j = phi i64 [ %first, %wide ], [ %j.next, %again ]
  %address = phi i64 [ %begin, %wide ], [ %address.next, %again ]
  %pb = inttoptr i64 %address to ptr
  %b.old = load <2 x i32>, ptr %pb
  %b.new = mul <2 x i32> %b.old, <i32 3, i32 5>
  store <2 x i32> %b.new, ptr %pb
  %address.next = add i64 %address, %step.bytes
  %j.next = add i64 %j, %step
  %is.over = icmp uge i64 %j.next, %end
  br i1 %is.over, label %out, label %again

out:
  ret void
}
