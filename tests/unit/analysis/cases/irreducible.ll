; A loop with two entries. Entered at both by threads of one block, nothing is known in it; entered at one
; of them by all (the second function), it is like any other.
declare i32 @rt_sreg_tid_x(ptr) memory(none)
declare i32 @rt_sreg_ctaid_x(ptr) memory(none)
declare i32 @rt_sreg_nctaid_x(ptr) memory(none)
declare void @rt_bar_sync(ptr, i32, i32)

define void @entered_apart(ptr %ctx, ptr %out) {
entry:
  %tid = call i32 @rt_sreg_tid_x(ptr %ctx)
  %n = call i32 @rt_sreg_nctaid_x(ptr %ctx)
  %starts.late = icmp ult i32 %tid, 5
  br i1 %starts.late, label %second, label %first
first:
  %i = phi i32 [ 0, %entry ], [ %j.next, %second ]
  %i.next = add i32 %i, 1
  %twice = add i32 %n, %n
  br label %second
second:
  %j = phi i32 [ 1, %entry ], [ %i.next, %first ]
  %j.next = add i32 %j, 1
  call void @rt_bar_sync(ptr %ctx, i32 0, i32 0)
  %on = icmp ult i32 %j.next, %n
  br i1 %on, label %first, label %end
end:
  store i32 %j.next, ptr %out
  ret void
}

define void @entered_together(ptr %ctx, ptr %out) {
entry:
  %ctaid = call i32 @rt_sreg_ctaid_x(ptr %ctx)
  %n = call i32 @rt_sreg_nctaid_x(ptr %ctx)
  %starts.late = icmp ult i32 %ctaid, 5
  br i1 %starts.late, label %second, label %first
first:
  %i = phi i32 [ 0, %entry ], [ %j.next, %second ]
  %i.next = add i32 %i, 1
  br label %second
second:
  %j = phi i32 [ 1, %entry ], [ %i.next, %first ]
  %j.next = add i32 %j, 1
  call void @rt_bar_sync(ptr %ctx, i32 0, i32 0)
  %on = icmp ult i32 %j.next, %n
  br i1 %on, label %first, label %end
end:
  store i32 %j.next, ptr %out
  ret void
}
