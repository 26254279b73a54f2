; Lanes of both ways of a divergent branch may come to one place, or not, by branches at which they stay together.
define void @some_behind_some(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %v = load i32, ptr %at
  %mine = icmp ult i32 %v, 9
  br i1 %mine, label %then, label %else
then:
  %all = icmp ult i32 %n, 9
  br i1 %all, label %shared, label %meet
else:
  br label %shared
shared:
  store i32 1, ptr %at
  br label %meet
meet:
  store i32 2, ptr %a
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
