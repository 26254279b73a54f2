; One segment; reads of the launch's parameters are uniform, other memory is not.
declare i32 @rt_sreg_tid_x(ptr) memory(none)
declare i32 @rt_sreg_ctaid_x(ptr) memory(none)
declare i32 @rt_sreg_ntid_x(ptr) memory(none)

define void @straight_line(ptr %ctx) {
entry:
  %block = load ptr, ptr %ctx, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %params = load ptr, ptr %launch, !invariant.load !0
  %data = load ptr, ptr %params, !invariant.load !0
  %limit.field = getelementptr i8, ptr %ctx, i64 40
  %limit = load ptr, ptr %limit.field, !invariant.load !0
  %tid = call i32 @rt_sreg_tid_x(ptr %ctx)
  %ctaid = call i32 @rt_sreg_ctaid_x(ptr %ctx)
  %ntid = call i32 @rt_sreg_ntid_x(ptr %ctx)
  %base = mul i32 %ctaid, %ntid
  %index = add nsw i32 %base, %tid
  %wide = sext i32 %index to i64
  %place = getelementptr float, ptr %data, i64 %wide
  %same = load float, ptr %data
  %own = load float, ptr %place
  %sum = fadd float %same, %own
  store float %sum, ptr %place
  ret void
}

!0 = !{}
