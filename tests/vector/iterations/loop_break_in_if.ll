; Ways out of a loop from within conditions in it: what is behind the loop is not of their units.
define void @loop_break_in_if(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  br label %loop
loop:
  %k = phi i32 [ 0, %iteration ], [ %k.next, %again ]
  %v = load i32, ptr %at
  %odd = trunc i32 %v to i1
  br i1 %odd, label %then, label %again
then:
  %found = icmp eq i32 %v, %k
  br i1 %found, label %break, label %deeper
deeper:
  store i32 %k, ptr %at
  %way = icmp eq i32 %k, 17
  br i1 %way, label %return, label %again
again:
  %k.next = add i32 %k, 1
  %on = icmp ult i32 %k.next, %n
  br i1 %on, label %loop, label %after
break:
  %k.break = phi i32 [ %k, %then ]
  store i32 %k.break, ptr %at
  br label %meet
after:
  br label %meet
meet:
  %how = phi i32 [ 1, %break ], [ 2, %after ]
  store i32 %how, ptr %at
  br label %latch
return:
  store i32 7, ptr %at
  br label %latch
latch:
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}

define void @only_for_some(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  br label %loop
loop:
  %k = phi i32 [ 0, %iteration ], [ %k.next, %again ]
  %v = load i32, ptr %at
  %odd = trunc i32 %v to i1
  br i1 %odd, label %then, label %again
then:
  %far = icmp eq i32 %k, 100
  br i1 %far, label %after, label %again
again:
  %k.next = add i32 %k, 1
  br label %loop
after:
  %k.last = phi i32 [ %k, %then ]
  store i32 %k.last, ptr %at
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
