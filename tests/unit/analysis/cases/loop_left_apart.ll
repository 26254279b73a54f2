; Threads leave the loop in different iterations: the counter is uniform inside, where all threads have
; made as many iterations, and varying outside. What does not change in the loop stays uniform.
declare i32 @rt_sreg_tid_x(ptr) memory(none)
declare i32 @rt_sreg_nctaid_x(ptr) memory(none)
declare void @rt_bar_sync(ptr, i32, i32)

define void @loop_left_apart(ptr %ctx, ptr %out) {
entry:
  %tid = call i32 @rt_sreg_tid_x(ptr %ctx)
  %n = call i32 @rt_sreg_nctaid_x(ptr %ctx)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %i.next = add i32 %i, 1
  %twice = add i32 %n, %n
  %index = add i32 %i, %tid
  %on = icmp ult i32 %index, %n
  br i1 %on, label %loop, label %after
after:
  %left = phi i32 [ %i, %loop ]
  %is.equal = icmp eq i32 %i.next, %twice
  call void @rt_bar_sync(ptr %ctx, i32 0, i32 0)
  br i1 %is.equal, label %then, label %end
then:
  store i32 %left, ptr %out
  br label %end
end:
  ret void
}
