; SPDX-License-Identifier: Apache-2.0
; A loop in a loop, left to the next turn of the outer one straight on or by a segment between, or, by
; some lanes, to behind both. Those that stay have in common what they bring to the next turn: it is
; that of the edge by which they come, whichever is emitted last.
; nest: x
; run: nx=1,7,33,90,96 n=6,1
; arrays: a=4 b=4 c=8+8

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
begin:
  %eighth = lshr i32 %x, 3
  %own = and i32 %x, 7
  %is.early = icmp ult i32 %x, 48
  %turns = select i1 %is.early, i32 %eighth, i32 %own
  %further = and i32 %n, 6
  %middle = lshr i32 %x, 1
  %late = and i32 %middle, 7
  %moved = mul i32 %eighth, 3
  %sum = add i32 %own, %moved
  %early = and i32 %sum, 15
  %stay = select i1 %is.early, i32 %early, i32 %late
  %i = zext i32 %x to i64
  %p = getelementptr i32, ptr %a, i64 %i
  br label %head

head:
  %last = phi i32 [ 0, %begin ], [ %brought, %again ]
  %turn = phi i32 [ 0, %begin ], [ %next, %again ]
  %goes.on = icmp ult i32 %turn, %turns
  br i1 %goes.on, label %body, label %out

body:
  %round = phi i32 [ 0, %head ], [ %next.round, %rest ]
  %both = add i32 %round, %turn
  %is.short = icmp eq i32 %both, 3
  br i1 %is.short, label %again, label %some

some:
  %leaves = icmp eq i32 %both, %stay
  br i1 %leaves, label %out, label %rest

rest:
  %next.round = add i32 %round, 2
  %is.done = icmp uge i32 %next.round, %further
  br i1 %is.done, label %between, label %body

between:
  store i32 %turn, ptr %p, align 4
  br label %again

again:
  %brought = phi i32 [ 3, %between ], [ %turn, %body ]
  %next = add i32 %turn, 1
  br label %head

out:
  %result = phi i32 [ %turn, %some ], [ %last, %head ]
  %q = getelementptr i64, ptr %c, i64 %i
  store i32 %result, ptr %q, align 4
  ret void
}
