; A divergent branch, and one at which threads stay together, one in the other.
define void @if_else(ptr %a, i32 %n, i32 %count) {
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
  br i1 %all, label %all.then, label %all.else
all.then:
  %p = mul i32 %v, 5
  br label %all.meet
all.else:
  br label %all.meet
all.meet:
  %q = phi i32 [ %p, %all.then ], [ %n, %all.else ]
  br label %meet
else:
  %r = call i32 @f(i32 %v)
  br label %meet
meet:
  %s = phi i32 [ %q, %all.meet ], [ %r, %else ]
  store i32 %s, ptr %at
  br label %latch
latch:
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
declare i32 @f(i32)

!0 = distinct !{!0, !1}
!1 = !{!"ptxrun.threads", !"x"}
