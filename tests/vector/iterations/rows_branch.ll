; Rows go different ways, threads of a row do not: where they meet, values depend on the row.
define void @rows_branch(ptr %a, ptr %b, ptr %c, i32 %n, i32 %width, i32 %height) {
entry:
  br label %row
row:
  %y = phi i32 [ 0, %entry ], [ %y.next, %row.latch ]
  %first = mul i32 %y, %n
  br label %iteration
iteration:
  %x = phi i32 [ 0, %row ], [ %next, %latch ]
  %in = icmp ult i32 %y, %n
  br i1 %in, label %first.rows, label %meet
first.rows:
  %i = sext i32 %x to i64
  %at = getelementptr inbounds float, ptr %a, i64 %i
  %v = load float, ptr %at
  br label %meet
meet:
  %u = phi float [ %v, %first.rows ], [ 1.0, %iteration ]
  %same = load float, ptr %b
  %sum = fadd float %u, %same
  store float %sum, ptr %c
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
