; What is expected of places: to be within limits, not to be one of all; of data nothing.
define void @inside(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %last = add i32 %n, -1
  %not.first = icmp ne i32 %x, 0
  %not.last = icmp slt i32 %x, %last
  %in = select i1 %not.first, i1 %not.last, i1 false
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
define void @border(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %is.first = icmp eq i32 %x, 0
  %wide = sext i32 %x to i64
  %is.last = icmp eq i64 %wide, 99
  %out = or i1 %is.first, %is.last
  br i1 %out, label %latch, label %work
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
define void @inverted(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %is.first = icmp eq i32 %x, 0
  %in = xor i1 %is.first, true
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
define void @one(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %is.first = icmp eq i32 %x, 0
  br i1 %is.first, label %work, label %latch
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
define void @every_other(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %odd = trunc i32 %x to i1
  br i1 %odd, label %work, label %latch
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
define void @data(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %from = getelementptr inbounds i32, ptr %a, i32 %x
  %v = load i32, ptr %from
  %in = icmp ult i32 %x, %n
  %small = icmp ult i32 %v, 100
  %both = and i1 %in, %small
  br i1 %both, label %work, label %latch
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

!0 = distinct !{!0, !1}
!1 = !{!"ptxrun.threads", !"x"}
