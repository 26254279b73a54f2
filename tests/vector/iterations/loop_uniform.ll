; All threads go round equally often: a sum.
define void @loop_uniform(ptr %a, ptr %b, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  br label %loop
loop:
  %k = phi i32 [ 0, %iteration ], [ %k.next, %loop ]
  %sum = phi float [ 0.0, %iteration ], [ %sum.next, %loop ]
  %row = mul i32 %k, %n
  %i = add i32 %row, %x
  %at = getelementptr inbounds float, ptr %a, i32 %i
  %v = load float, ptr %at
  %bt = getelementptr inbounds float, ptr %b, i32 %k
  %w = load float, ptr %bt
  %product = fmul float %v, %w
  %sum.next = fadd float %sum, %product
  %k.next = add nuw nsw i32 %k, 1
  %on = icmp ult i32 %k.next, %n
  br i1 %on, label %loop, label %after
after:
  %total = phi float [ %sum.next, %loop ]
  %last = phi i32 [ %k, %loop ]
  %out = getelementptr inbounds float, ptr %a, i32 %last
  store float %total, ptr %out
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
