; In a loop of all, some skip a part; a loop in a branch.
define void @loop_continue(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %v = load i32, ptr %at
  br label %loop
loop:
  %k = phi i32 [ 0, %iteration ], [ %k.next, %again ]
  %skip = icmp eq i32 %v, %k
  br i1 %skip, label %again, label %body
body:
  store i32 %k, ptr %at
  br label %again
again:
  %k.next = add i32 %k, 1
  %on = icmp ult i32 %k.next, %n
  br i1 %on, label %loop, label %after
after:
  %few = icmp ult i32 %v, 3
  br i1 %few, label %ready, label %latch
ready:
  br label %last
last:
  %m = phi i32 [ 0, %ready ], [ %m.next, %last ]
  %m.next = add i32 %m, 1
  store i32 %m, ptr %at
  %on.m = icmp ult i32 %m.next, %n
  br i1 %on.m, label %last, label %last.done
last.done:
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
