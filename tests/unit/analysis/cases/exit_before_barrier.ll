; Threads without work exit, before the barrier and in a loop with one: the others come to every barrier
; together. Behind the last barrier no such allowance is made.
declare i32 @rt_sreg_tid_x(ptr) memory(none)
declare i32 @rt_sreg_nctaid_x(ptr) memory(none)
declare void @rt_bar_sync(ptr, i32, i32)

define void @exit_before_barrier(ptr %ctx, ptr %out) {
entry:
  %tid = call i32 @rt_sreg_tid_x(ptr %ctx)
  %n = call i32 @rt_sreg_nctaid_x(ptr %ctx)
  %is.idle = icmp uge i32 %tid, %n
  br i1 %is.idle, label %idle, label %loop
idle:
  store i32 0, ptr %out
  br label %end
loop:
  %i = phi i32 [ 0, %entry ], [ %i.next, %latch ]
  call void @rt_bar_sync(ptr %ctx, i32 0, i32 0)
  %is.done = icmp eq i32 %i, %tid
  br i1 %is.done, label %done, label %latch
done:
  store i32 %i, ptr %out
  br label %end
latch:
  %i.next = add i32 %i, 1
  %on = icmp ult i32 %i.next, %n
  br i1 %on, label %loop, label %after
after:
  call void @rt_bar_sync(ptr %ctx, i32 1, i32 0)
  %is.first = icmp eq i32 %tid, 0
  br i1 %is.first, label %first, label %end
first:
  store i32 %i.next, ptr %out
  br label %end
end:
  %way = phi i32 [ 0, %idle ], [ 1, %done ], [ 2, %first ], [ 3, %after ]
  store i32 %way, ptr %out
  ret void
}
