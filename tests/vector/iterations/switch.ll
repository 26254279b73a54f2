; Ways of a switch on what is different, and on what is the same.
define void @switch(ptr %a, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %v = load i32, ptr %at
  switch i32 %v, label %other [ i32 0, label %zero
                                i32 1, label %few
                                i32 2, label %few ]
zero:
  br label %meet
few:
  br label %other
other:
  %w = phi i32 [ 5, %few ], [ %v, %iteration ]
  br label %meet
meet:
  %u = phi i32 [ 0, %zero ], [ %w, %other ]
  switch i32 %n, label %end [ i32 0, label %same
                              i32 7, label %seven ]
same:
  store i32 %u, ptr %at
  br label %end
seven:
  store i32 7, ptr %at
  br label %end
end:
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
