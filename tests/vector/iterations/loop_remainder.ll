; Threads with more work make one turn more: their number of turns, a quotient, is expected to be the same in all lanes.
define void @loop_remainder(ptr %a, i32 %n, i32 %threads, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %in = icmp ult i32 %x, %n
  br i1 %in, label %turns, label %latch
turns:
  %not = xor i32 %x, -1
  %left = add nsw i32 %n, %not
  %quotient = udiv i32 %left, %threads
  %few = and i32 %quotient, 3
  br label %loop
loop:
  %i = phi i32 [ %x, %turns ], [ %i.next, %loop ]
  %k = phi i32 [ 0, %turns ], [ %k.next, %loop ]
  %at = getelementptr inbounds i32, ptr %a, i32 %i
  store i32 %k, ptr %at
  %i.next = add nuw nsw i32 %i, %threads
  %k.next = add nuw nsw i32 %k, 1
  %on = icmp ule i32 %k.next, %few
  br i1 %on, label %loop, label %after
after:
  %place = phi i32 [ %i.next, %loop ]
  %behind = getelementptr inbounds i32, ptr %a, i32 %place
  store i32 0, ptr %behind
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
