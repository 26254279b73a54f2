; Only some threads come to the barrier, and only in some iterations.
declare i32 @rt_sreg_tid_x(ptr) memory(none)
declare i32 @rt_sreg_nctaid_x(ptr) memory(none)
declare void @rt_bar_sync(ptr, i32, i32)

define void @barrier_in_if_in_loop(ptr %ctx) {
entry:
  %tid = call i32 @rt_sreg_tid_x(ptr %ctx)
  %n = call i32 @rt_sreg_nctaid_x(ptr %ctx)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %latch ]
  %waits = icmp ult i32 %tid, %i
  br i1 %waits, label %wait, label %latch
wait:
  call void @rt_bar_sync(ptr %ctx, i32 0, i32 0)
  br label %latch
latch:
  %i.next = add i32 %i, 1
  %on = icmp ult i32 %i.next, %n
  br i1 %on, label %loop, label %end
end:
  ret void
}
