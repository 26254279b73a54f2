; Loops with uniform trip counts around a divergent if with a barrier outside of it: nothing but the if
; itself is divergent.
declare i32 @rt_sreg_tid_x(ptr) memory(none)
declare i32 @rt_sreg_nctaid_x(ptr) memory(none)
declare void @rt_bar_sync(ptr, i32, i32)

define void @loops_nested(ptr %ctx, ptr %out) {
entry:
  %tid = call i32 @rt_sreg_tid_x(ptr %ctx)
  %n = call i32 @rt_sreg_nctaid_x(ptr %ctx)
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %outer.end ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner.end ]
  %step = phi i32 [ %tid, %outer ], [ %step.next, %inner.end ]
  %is.even = icmp ult i32 %step, %i
  br i1 %is.even, label %then, label %inner.end
then:
  store i32 %j, ptr %out
  br label %inner.end
inner.end:
  call void @rt_bar_sync(ptr %ctx, i32 0, i32 0)
  %step.next = add nsw i32 %step, 32
  %j.next = add i32 %j, 1
  %inner.on = icmp ult i32 %j.next, %n
  br i1 %inner.on, label %inner, label %outer.end
outer.end:
  %i.next = add i32 %i, %j.next
  %outer.on = icmp ult i32 %i.next, %n
  br i1 %outer.on, label %outer, label %end
end:
  ret void
}
