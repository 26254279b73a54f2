; Two ways back to the header: a phi there tells them apart, but all threads make as many iterations.
declare i32 @rt_sreg_tid_x(ptr) memory(none)
declare i32 @rt_sreg_nctaid_x(ptr) memory(none)
declare void @rt_bar_sync(ptr, i32, i32)

define void @loop_continue(ptr %ctx, ptr %out) {
entry:
  %tid = call i32 @rt_sreg_tid_x(ptr %ctx)
  %n = call i32 @rt_sreg_nctaid_x(ptr %ctx)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %body ], [ %i.next, %rest ]
  %count = phi i32 [ 0, %entry ], [ %count, %body ], [ %count.next, %rest ]
  call void @rt_bar_sync(ptr %ctx, i32 0, i32 0)
  %on = icmp ult i32 %i, %n
  br i1 %on, label %body, label %end
body:
  %i.next = add i32 %i, 1
  %skips = icmp eq i32 %i, %tid
  br i1 %skips, label %loop, label %rest
rest:
  %count.next = add i32 %count, 1
  br label %loop
end:
  store i32 %count, ptr %out
  ret void
}
