; A divergent loop in one that all leave together and the other way round; a way out of both at once.
define void @divergent_inside(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  br label %outer
outer:
  %k = phi i32 [ 0, %iteration ], [ %k.next, %outer.latch ]
  br label %inner
inner:
  %m = phi i32 [ 0, %outer ], [ %m.next, %inner ]
  %v = load i32, ptr %at
  %m.next = add i32 %m, 1
  %on = icmp ult i32 %m.next, %v
  br i1 %on, label %inner, label %outer.latch
outer.latch:
  %k.next = add i32 %k, 1
  %more.k = icmp ult i32 %k.next, %n
  br i1 %more.k, label %outer, label %after
after:
  br label %latch
latch:
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
define void @divergent_outside(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  br label %outer
outer:
  %k = phi i32 [ 0, %iteration ], [ %k.next, %outer.latch ]
  br label %inner
inner:
  %m = phi i32 [ 0, %outer ], [ %m.next, %inner ]
  %m.next = add i32 %m, 1
  %on = icmp ult i32 %m.next, %n
  br i1 %on, label %inner, label %outer.latch
outer.latch:
  %m.last = phi i32 [ %m, %inner ]
  %v = load i32, ptr %at
  %k.next = add i32 %k, %m.last
  %more.k = icmp ult i32 %k.next, %v
  br i1 %more.k, label %outer, label %after
after:
  %k.last = phi i32 [ %k.next, %outer.latch ]
  store i32 %k.last, ptr %at
  br label %latch
latch:
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
define void @out_of_both(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  br label %outer
outer:
  %k = phi i32 [ 0, %iteration ], [ %k.next, %outer.latch ]
  br label %inner
inner:
  %m = phi i32 [ 0, %outer ], [ %m.next, %inner.latch ]
  %v = load i32, ptr %at
  %found = icmp eq i32 %v, %m
  br i1 %found, label %return, label %inner.latch
inner.latch:
  %m.next = add i32 %m, 1
  %on = icmp ult i32 %m.next, %n
  br i1 %on, label %inner, label %outer.latch
outer.latch:
  %k.next = add i32 %k, 1
  %more.k = icmp ult i32 %k.next, %n
  br i1 %more.k, label %outer, label %after
return:
  %m.found = phi i32 [ %m, %inner ]
  store i32 %m.found, ptr %at
  br label %latch
after:
  store i32 0, ptr %at
  br label %latch
latch:
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}

define void @out_of_both_together(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  br label %outer
outer:
  %k = phi i32 [ 0, %iteration ], [ %k.next, %outer.latch ]
  br label %inner
inner:
  %m = phi i32 [ 0, %outer ], [ %m.next, %inner.latch ]
  %far = icmp eq i32 %m, 100
  br i1 %far, label %return, label %inner.latch
inner.latch:
  %v = load i32, ptr %at
  %m.next = add i32 %m, 1
  %on = icmp ult i32 %m.next, %v
  br i1 %on, label %inner, label %outer.latch
outer.latch:
  %k.next = add i32 %k, 1
  %more.k = icmp ult i32 %k.next, %n
  br i1 %more.k, label %outer, label %after
return:
  store i32 1, ptr %at
  br label %latch
after:
  store i32 0, ptr %at
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
