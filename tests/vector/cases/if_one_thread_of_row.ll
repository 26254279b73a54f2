; SPDX-License-Identifier: Apache-2.0
; One thread of the row stores in each turn what all have computed before. The number of its lane is
; a difference that LLVM's passes know not to be negative where there is such a lane, and they take
; the element out in front of the loop, where there may be none.
; nest: x
; run: nx=32,33,7
; arrays: a=4 b=4 c=64+64:zero

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
entry:
  %i = sext i32 %x to i64
  %p = getelementptr i32, ptr %a, i64 %i
  %v = load i32, ptr %p, align 4
  %square = mul i32 %v, %v
  %low = and i32 %v, 7
  %own = add nuw nsw i32 %low, 1
  br label %turn

turn:
  %j = phi i32 [ 0, %entry ], [ %next, %again ]
  %sum = phi i32 [ 0, %entry ], [ %more, %again ]
  %is.third = icmp eq i32 %x, 3
  br i1 %is.third, label %one, label %again

one:
  %j64 = zext i32 %j to i64
  %r = getelementptr i32, ptr %c, i64 %j64
  store i32 %square, ptr %r, align 4
  br label %again

again:
  %product = mul i32 %sum, %square
  %more = add i32 %product, %j
  %next = add nuw nsw i32 %j, 1
  %goes.on = icmp ult i32 %next, %own
  br i1 %goes.on, label %turn, label %end

end:
  %q = getelementptr i32, ptr %b, i64 %i
  store i32 %more, ptr %q, align 4
  ret void
}
