; Checks that end the launch: lanes that pass go on as all; in a loop, and from several places to one fault.
define void @check(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %v = load i32, ptr %at
  %bad = icmp eq i32 %v, 0
  br i1 %bad, label %fault, label %fine
fault:
  call void @rt_fault(ptr %a, i32 %v)
  unreachable
fine:
  %q = udiv i32 %n, %v
  store i32 %q, ptr %at
  br label %latch
latch:
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
define void @check_in_loop(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  br label %loop
loop:
  %k = phi i32 [ 0, %iteration ], [ %k.next, %again ]
  %v = load i32, ptr %at
  %bad = icmp eq i32 %v, %k
  br i1 %bad, label %fault, label %again
again:
  store i32 %k, ptr %at
  %k.next = add i32 %k, 1
  %on = icmp ult i32 %k.next, %n
  br i1 %on, label %loop, label %after
fault:
  %k.bad = phi i32 [ %k, %loop ]
  call void @rt_fault(ptr %a, i32 %k.bad)
  unreachable
after:
  %k.last = phi i32 [ %k, %again ]
  store i32 %k.last, ptr %at
  br label %latch
latch:
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
define void @two_checks(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %v = load i32, ptr %at
  %bad = icmp eq i32 %v, 0
  br i1 %bad, label %fault, label %fine
fine:
  %q = udiv i32 %n, %v
  store i32 %q, ptr %at
  %worse = icmp eq i32 %q, 0
  br i1 %worse, label %fault, label %finer
finer:
  store i32 7, ptr %a
  br label %latch
fault:
  %why = phi i32 [ 1, %iteration ], [ 2, %fine ]
  call void @rt_fault(ptr %a, i32 %why)
  unreachable
latch:
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
define void @check_before_guard(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %bad = icmp eq i32 %n, 0
  br i1 %bad, label %fault, label %fine
fault:
  call void @rt_fault(ptr %a, i32 1)
  unreachable
fine:
  %in = icmp ult i32 %x, %n
  br i1 %in, label %work, label %latch
work:
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  store i32 1, ptr %at
  br label %latch
latch:
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
declare void @rt_fault(ptr, i32) noreturn

!0 = distinct !{!0, !1}
!1 = !{!"ptxrun.threads", !"x"}
