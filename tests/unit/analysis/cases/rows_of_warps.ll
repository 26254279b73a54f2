; block 32,4,1
; Rows that are warps: what a row shares is uniform in a warp.
declare i32 @rt_sreg_tid_x(ptr) memory(none)
declare i32 @rt_sreg_tid_y(ptr) memory(none)
declare i32 @rt_sreg_tid_z(ptr) memory(none)
declare i32 @rt_sreg_laneid(ptr) memory(none)
declare i32 @rt_sreg_warpid(ptr) memory(none)
declare i32 @rt_sreg_lanemask_lt(ptr) memory(none)
declare i32 @rt_sreg_clock(ptr)
declare void @rt_bar_sync(ptr, i32, i32)

define void @rows_of_warps(ptr %ctx, ptr %out) {
entry:
  %x = call i32 @rt_sreg_tid_x(ptr %ctx)
  %y = call i32 @rt_sreg_tid_y(ptr %ctx)
  %z = call i32 @rt_sreg_tid_z(ptr %ctx)
  %lane = call i32 @rt_sreg_laneid(ptr %ctx)
  %warp = call i32 @rt_sreg_warpid(ptr %ctx)
  %mask = call i32 @rt_sreg_lanemask_lt(ptr %ctx)
  %clock = call i32 @rt_sreg_clock(ptr %ctx)
  %row = mul i32 %y, %y
  %index = add nsw i32 %row, %x
  %row.float = uitofp i32 %row to float
  %is.top = icmp eq i32 %y, 0
  %end.of.row = select i1 %is.top, i32 1, i32 2
  %border = select i1 %is.top, i32 %x, i32 %index
  br i1 %is.top, label %top, label %end
top:
  call void @rt_bar_sync(ptr %ctx, i32 0, i32 0)
  br label %end
end:
  ret void
}
