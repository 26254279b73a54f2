; Faults end the launch and count nowhere; who exits under two ifs does not count for the barrier behind them;
; who exits after a barrier of its own does.
declare i32 @rt_sreg_tid_x(ptr) memory(none)
declare i32 @rt_sreg_nctaid_x(ptr) memory(none)
declare void @rt_bar_sync(ptr, i32, i32)
declare void @rt_fault(ptr, i32, i64)

define void @exit_nested(ptr %ctx, ptr %out) {
entry:
  %tid = call i32 @rt_sreg_tid_x(ptr %ctx)
  %n = call i32 @rt_sreg_nctaid_x(ptr %ctx)
  %is.bad = icmp ugt i32 %tid, 1000
  br i1 %is.bad, label %bad, label %good
bad:
  call void @rt_fault(ptr %ctx, i32 0, i64 0)
  unreachable
good:
  %is.low = icmp ult i32 %tid, %n
  br i1 %is.low, label %low, label %meet
low:
  %is.idle = icmp eq i32 %tid, 0
  br i1 %is.idle, label %idle, label %meet
idle:
  store i32 0, ptr %out
  ret void
meet:
  %which = phi i32 [ 0, %good ], [ 1, %low ]
  call void @rt_bar_sync(ptr %ctx, i32 0, i32 0)
  store i32 %which, ptr %out
  %is.odd = trunc i32 %tid to i1
  br i1 %is.odd, label %odd, label %even
odd:
  call void @rt_bar_sync(ptr %ctx, i32 0, i32 0)
  ret void
even:
  call void @rt_bar_sync(ptr %ctx, i32 0, i32 0)
  ret void
}
