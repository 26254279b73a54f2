; Both ways do something, or one is behind what must not happen twice, or all threads agree.
define void @both(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %in = icmp slt i32 %x, %n
  br i1 %in, label %this, label %that
this:
  store i32 1, ptr %at
  br label %latch
that:
  store i32 2, ptr %at
  br label %latch
latch:
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
define void @behind_atomic(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %old = atomicrmw add ptr %a, i32 1 monotonic
  %in = icmp slt i32 %old, %n
  br i1 %in, label %this, label %latch
this:
  store i32 1, ptr %a
  br label %latch
latch:
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
define void @agree(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %in = icmp slt i32 %n, 7
  br i1 %in, label %this, label %latch
this:
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
