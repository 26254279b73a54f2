; Threads beyond the end do nothing.
define void @guard(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %in = icmp slt i32 %x, %n
  br i1 %in, label %work, label %latch
work:
  %i = zext nneg i32 %x to i64
  %at = getelementptr inbounds float, ptr %a, i64 %i
  %v = load float, ptr %at
  %twice = fadd float %v, %v
  store float %twice, ptr %at
  br label %latch
latch:
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"ptxrun.threads", !"x"}
