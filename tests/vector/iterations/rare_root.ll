; Quotients and roots take long: also a short unit that has them is branched around.
define void @rare_root(ptr %a, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr inbounds float, ptr %a, i32 %x
  %v = load float, ptr %at
  %twice = fadd float %v, %v
  %rare = fcmp ult float %v, 0.0
  br i1 %rare, label %then, label %meet
then:
  %root = call float @llvm.sqrt.f32(float %v)
  %inverse = fdiv float 1.0, %root
  br label %meet
meet:
  %s = phi float [ %inverse, %then ], [ %twice, %iteration ]
  store float %s, ptr %at
  br label %latch
latch:
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
declare float @llvm.sqrt.f32(float)

!0 = distinct !{!0, !1}
!1 = !{!"ptxrun.threads", !"x"}
