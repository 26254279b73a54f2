; A loop that threads stay in for ever has a post-dominator too, and those in it never meet the others.
declare i32 @rt_sreg_tid_x(ptr) memory(none)
declare void @rt_bar_sync(ptr, i32, i32)

define void @endless(ptr %ctx, ptr %out) {
entry:
  %tid = call i32 @rt_sreg_tid_x(ptr %ctx)
  %serves = icmp eq i32 %tid, 0
  br i1 %serves, label %serve, label %work
serve:
  %round = phi i32 [ 0, %entry ], [ %round.next, %again ]
  %round.next = add i32 %round, 1
  call void @rt_bar_sync(ptr %ctx, i32 0, i32 64)
  br label %again
again:
  br label %serve
work:
  call void @rt_bar_sync(ptr %ctx, i32 0, i32 64)
  br label %work.end
work.end:
  call void @rt_bar_sync(ptr %ctx, i32 1, i32 0)
  ret void
unreached:
  br label %work.end
}
