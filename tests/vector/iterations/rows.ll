; A product of matrices: a depends on the row, b does not; the sum is different everywhere.
define void @rows(ptr %a, ptr %b, ptr %c, i32 %n, i32 %width, i32 %height) {
entry:
  br label %row
row:
  %y = phi i32 [ 0, %entry ], [ %y.next, %row.latch ]
  %first = mul i32 %y, %n
  br label %iteration
iteration:
  %x = phi i32 [ 0, %row ], [ %next, %latch ]
  %in = icmp ult i32 %x, %n
  br i1 %in, label %loop.ready, label %latch
loop.ready:
  br label %loop
loop:
  %k = phi i32 [ 0, %loop.ready ], [ %k.next, %loop ]
  %sum = phi float [ 0.0, %loop.ready ], [ %sum.next, %loop ]
  %i = add i32 %first, %k
  %at = getelementptr inbounds float, ptr %a, i32 %i
  %v = load float, ptr %at
  %row.b = mul i32 %k, %n
  %j = add nsw i32 %row.b, %x
  %bt = getelementptr inbounds float, ptr %b, i32 %j
  %w = load float, ptr %bt
  %product = fmul float %v, %w
  %sum.next = fadd float %sum, %product
  %k.next = add nuw nsw i32 %k, 1
  %on = icmp ult i32 %k.next, %n
  br i1 %on, label %loop, label %after
after:
  %total = phi float [ %sum.next, %loop ]
  %o = add nsw i32 %first, %x
  %out = getelementptr inbounds float, ptr %c, i32 %o
  store float %total, ptr %out
  br label %latch
latch:
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %next, %width
  br i1 %more, label %iteration, label %row.latch, !llvm.loop !0
row.latch:
  %y.next = add nuw nsw i32 %y, 1
  %more.rows = icmp ult i32 %y.next, %height
  br i1 %more.rows, label %row, label %done, !llvm.loop !2
done:
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"ptxrun.threads", !"x"}
!2 = distinct !{!2, !3}
!3 = !{!"ptxrun.threads", !"y"}
