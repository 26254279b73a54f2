; Several guards; loads and choices between them, which can be done twice; behind the store there are none.
define void @guards_in_a_row(ptr %a, ptr %flags, i32 %n, i32 %m, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %out = icmp uge i32 %x, %n
  br i1 %out, label %return, label %first
return:
  br label %latch
first:
  %flag = getelementptr inbounds i32, ptr %flags, i32 %x
  %v = load i32, ptr %flag
  %odd = trunc i32 %v to i1
  br i1 %odd, label %more.work, label %second
more.work:
  %w = mul i32 %v, 3
  br label %second
second:
  %u = phi i32 [ %w, %more.work ], [ %v, %first ]
  %big = icmp ugt i32 %x, 100
  br i1 %big, label %work, label %latch
work:
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  store i32 %u, ptr %at
  %huge = icmp ugt i32 %x, %m
  br i1 %huge, label %rest, label %latch
rest:
  store i32 %v, ptr %flag
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
