; Two ways out, one of them divergent: some lanes come to either, and all to where they meet.
define void @loop_break(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %limit = load i32, ptr %at
  br label %loop
loop:
  %k = phi i32 [ 0, %iteration ], [ %k.next, %again ]
  %on = icmp ult i32 %k, %n
  br i1 %on, label %body, label %full
body:
  %found = icmp eq i32 %k, %limit
  br i1 %found, label %break, label %again
again:
  %k.next = add i32 %k, 1
  br label %loop
break:
  %k.break = phi i32 [ %k, %body ]
  store i32 %k.break, ptr %at
  br label %meet
full:
  %k.full = phi i32 [ %k, %loop ]
  store i32 %k.full, ptr %a
  br label %meet
meet:
  %how = phi i32 [ 1, %break ], [ 2, %full ]
  store i32 %how, ptr %at
  br label %latch
latch:
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
define void @two_ways_together(ptr %a, ptr %b, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  br label %loop
loop:
  %k = phi i32 [ 0, %iteration ], [ %k.next, %again ]
  %on = icmp ult i32 %k, %n
  br i1 %on, label %body, label %full
body:
  %bt = getelementptr inbounds i32, ptr %b, i32 %k
  %v = load i32, ptr %bt
  %found = icmp eq i32 %v, 0
  br i1 %found, label %break, label %again
again:
  %k.next = add i32 %k, 1
  br label %loop
break:
  br label %meet
full:
  br label %meet
meet:
  %how = phi i32 [ 1, %break ], [ 2, %full ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  store i32 %how, ptr %at
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
