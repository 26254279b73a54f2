; A tree reduction: the loop is uniform, the barrier in it is reached by all, the if is not.
declare i32 @rt_sreg_tid_x(ptr) memory(none)
declare i32 @rt_sreg_ntid_x(ptr) memory(none)
declare void @rt_bar_sync(ptr, i32, i32)

define void @loop_uniform_barrier(ptr %ctx) {
entry:
  %block = load ptr, ptr %ctx, !invariant.load !0
  %shared.field = getelementptr i8, ptr %block, i64 8
  %shared = load ptr, ptr %shared.field, !invariant.load !0
  %tid = call i32 @rt_sreg_tid_x(ptr %ctx)
  %ntid = call i32 @rt_sreg_ntid_x(ptr %ctx)
  %wide = sext i32 %tid to i64
  %own = getelementptr float, ptr %shared, i64 %wide
  br label %loop
loop:
  %width.twice = phi i32 [ %ntid, %entry ], [ %width, %latch ]
  %width = lshr i32 %width.twice, 1
  call void @rt_bar_sync(ptr %ctx, i32 0, i32 0)
  %takes.part = icmp ult i32 %tid, %width
  br i1 %takes.part, label %add, label %latch
add:
  %offset = zext i32 %width to i64
  %other = getelementptr float, ptr %own, i64 %offset
  %a = load float, ptr %own
  %b = load float, ptr %other
  %sum = fadd float %a, %b
  store float %sum, ptr %own
  br label %latch
latch:
  %on = icmp ugt i32 %width, 1
  br i1 %on, label %loop, label %end
end:
  ret void
}

!0 = !{}
