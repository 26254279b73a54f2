; Results that all lanes get alike, as far as all lanes ask.
declare i32 @rt_sreg_tid_x(ptr) memory(none)
declare i32 @rt_bar_red(ptr, i32, i32, i32, i32)
declare i32 @rt_vote(ptr, i32, i32, i32)
declare i32 @rt_redux(ptr, i32, i32, i32)
declare i64 @rt_match(ptr, i32, i64, i32)
declare i64 @rt_shfl(ptr, i32, i32, i32, i32, i32)
declare i32 @rt_activemask(ptr, i32)
declare i64 @rt_elect(ptr, i32)

define void @warp_operations(ptr %ctx, ptr %out) {
entry:
  %tid = call i32 @rt_sreg_tid_x(ptr %ctx)
  %all = call i32 @rt_vote(ptr %ctx, i32 0, i32 %tid, i32 -1)
  %some = call i32 @rt_vote(ptr %ctx, i32 0, i32 %tid, i32 65535)
  %sum = call i32 @rt_redux(ptr %ctx, i32 4, i32 %tid, i32 -1)
  %match.all = call i64 @rt_match(ptr %ctx, i32 1, i64 0, i32 -1)
  %match.any = call i64 @rt_match(ptr %ctx, i32 0, i64 0, i32 -1)
  %shuffled = call i64 @rt_shfl(ptr %ctx, i32 3, i32 %tid, i32 0, i32 31, i32 -1)
  %active = call i32 @rt_activemask(ptr %ctx, i32 0)
  %leader = call i64 @rt_elect(ptr %ctx, i32 -1)
  %count = call i32 @rt_bar_red(ptr %ctx, i32 0, i32 0, i32 %tid, i32 3)
  %part = call i32 @rt_bar_red(ptr %ctx, i32 0, i32 64, i32 %tid, i32 3)
  %is.low = icmp ult i32 %tid, 7
  br i1 %is.low, label %low, label %end
low:
  %active.low = call i32 @rt_activemask(ptr %ctx, i32 0)
  %all.low = call i32 @rt_vote(ptr %ctx, i32 0, i32 %tid, i32 -1)
  %count.low = call i32 @rt_bar_red(ptr %ctx, i32 0, i32 0, i32 %tid, i32 3)
  br label %end
end:
  ret void
}
