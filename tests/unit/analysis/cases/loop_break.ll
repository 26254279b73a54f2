; A loop with two ways out, one of them divergent: where both meet, threads come from different iterations
; and through different edges.
declare i32 @rt_sreg_tid_x(ptr) memory(none)
declare i32 @rt_sreg_nctaid_x(ptr) memory(none)
declare void @rt_bar_sync(ptr, i32, i32)

define void @loop_break(ptr %ctx, ptr %out) {
entry:
  %tid = call i32 @rt_sreg_tid_x(ptr %ctx)
  %n = call i32 @rt_sreg_nctaid_x(ptr %ctx)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %latch ]
  %on = icmp ult i32 %i, %n
  br i1 %on, label %body, label %full
body:
  %found = icmp eq i32 %i, %tid
  br i1 %found, label %break, label %latch
latch:
  %i.next = add i32 %i, 1
  br label %loop
break:
  br label %meet
full:
  br label %meet
meet:
  %how = phi i32 [ 1, %break ], [ 2, %full ]
  call void @rt_bar_sync(ptr %ctx, i32 0, i32 0)
  store i32 %how, ptr %out
  ret void
}
