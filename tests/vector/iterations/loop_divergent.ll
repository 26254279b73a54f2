; Threads leave a loop in different iterations: what counted in it is different behind it, and all come there.
define void @loop_divergent(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  br label %loop
loop:
  %k = phi i32 [ 0, %iteration ], [ %k.next, %loop ]
  %square = mul i32 %k, %k
  %fixed = mul i32 %n, 3
  %v = load i32, ptr %at
  %k.next = add nuw nsw i32 %k, 1
  %on = icmp ult i32 %k.next, %v
  br i1 %on, label %loop, label %after
after:
  %steps = phi i32 [ %square, %loop ]
  %constant = phi i32 [ %fixed, %loop ]
  %sum = add i32 %steps, %constant
  store i32 %sum, ptr %at
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
