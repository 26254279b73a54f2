; SPDX-License-Identifier: Apache-2.0
; Indices that go on in a loop and wrap there, in the first turn, in a later one, or never.
; run: nx=16,33,96 ny=1,3 n=1,2,3,9
; arrays: a=4+8192 b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul i32 %y, %nx
  %t = add i32 %row, %x
  %own = zext i32 %t to i64
  %from = add i32 %x, 2147483400
  %middle = lshr i32 %nx, 1
  %middle64 = zext i32 %middle to i64
  br label %turn

turn:
  %k = phi i32 [ 0, %0 ], [ %k.next, %turn ]
  %i = phi i32 [ %from, %0 ], [ %i.next, %turn ]
  %j = phi i32 [ %x, %0 ], [ %j.next, %turn ]
  %s = phi i32 [ 1, %0 ], [ %s.next, %turn ]
  %i64 = sext i32 %i to i64
  %wrapped = icmp slt i32 %i, 0
  %fix = select i1 %wrapped, i64 2147483896, i64 -2147483400
  %at = add i64 %i64, %fix
  %p = getelementptr i32, ptr %a, i64 %at
  %v = load i32, ptr %p
  %less = sub i32 %j, %middle
  %less64 = zext i32 %less to i64
  %is.low = icmp ult i32 %j, %middle
  %fix.low = select i1 %is.low, i64 -4294967296, i64 0
  %sum2 = add i64 %less64, %fix.low
  %at2 = add i64 %sum2, %middle64
  %q = getelementptr i32, ptr %a, i64 %at2
  %w = load i32, ptr %q
  %s3 = mul i32 %s, 3
  %vw = sub i32 %v, %w
  %s.next = add i32 %s3, %vw
  %i.next = add i32 %i, 64
  %j.next = add i32 %j, 48
  %k.next = add i32 %k, 1
  %more = icmp slt i32 %k.next, %n
  br i1 %more, label %turn, label %end

end:
  %pc = getelementptr i32, ptr %c, i64 %own
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %s.next
  store i32 %new, ptr %pc
  ret void
}
