; How often a loop runs, in the forms that LLVM writes it.
define void @next_ult(ptr %a, i32 %count) {
entry:
  %less = add i32 %count, -1
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %iteration ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %loaded = load i32, ptr %at
  store i32 1, ptr %at
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
define void @next_uge(ptr %a, i32 %count) {
entry:
  %less = add i32 %count, -1
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %iteration ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %loaded = load i32, ptr %at
  store i32 1, ptr %at
  %next = add nuw nsw i32 %x, 1
  %more = icmp uge i32 %next, %count
  br i1 %more, label %done, label %iteration, !llvm.loop !0
done:
  ret void
}
define void @next_ne(ptr %a, i32 %count) {
entry:
  %less = add i32 %count, -1
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %iteration ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %loaded = load i32, ptr %at
  store i32 1, ptr %at
  %next = add nuw nsw i32 %x, 1
  %more = icmp ne i32 %next, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
define void @next_eq(ptr %a, i32 %count) {
entry:
  %less = add i32 %count, -1
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %iteration ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %loaded = load i32, ptr %at
  store i32 1, ptr %at
  %next = add nuw nsw i32 %x, 1
  %more = icmp eq i32 %next, %count
  br i1 %more, label %done, label %iteration, !llvm.loop !0
done:
  ret void
}
define void @next_slt(ptr %a, i32 %count) {
entry:
  %less = add i32 %count, -1
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %iteration ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %loaded = load i32, ptr %at
  store i32 1, ptr %at
  %next = add nuw nsw i32 %x, 1
  %more = icmp slt i32 %next, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
define void @swapped(ptr %a, i32 %count) {
entry:
  %less = add i32 %count, -1
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %iteration ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %loaded = load i32, ptr %at
  store i32 1, ptr %at
  %next = add nuw nsw i32 %x, 1
  %more = icmp ugt i32 %count, %next
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
define void @now_ult(ptr %a, i32 %count) {
entry:
  %less = add i32 %count, -1
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %iteration ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %loaded = load i32, ptr %at
  store i32 1, ptr %at
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %x, 255
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
define void @now_eq(ptr %a, i32 %count) {
entry:
  %less = add i32 %count, -1
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %iteration ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %loaded = load i32, ptr %at
  store i32 1, ptr %at
  %next = add nuw nsw i32 %x, 1
  %more = icmp eq i32 %x, 255
  br i1 %more, label %done, label %iteration, !llvm.loop !0
done:
  ret void
}
define void @next_ule(ptr %a, i32 %count) {
entry:
  %less = add i32 %count, -1
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %iteration ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %loaded = load i32, ptr %at
  store i32 1, ptr %at
  %next = add nuw nsw i32 %x, 1
  %more = icmp ule i32 %next, 31
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
define void @next_ugt(ptr %a, i32 %count) {
entry:
  %less = add i32 %count, -1
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %iteration ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %loaded = load i32, ptr %at
  store i32 1, ptr %at
  %next = add nuw nsw i32 %x, 1
  %more = icmp ugt i32 %next, 31
  br i1 %more, label %done, label %iteration, !llvm.loop !0
done:
  ret void
}
define void @now_less(ptr %a, i32 %count) {
entry:
  %less = add i32 %count, -1
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %iteration ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %loaded = load i32, ptr %at
  store i32 1, ptr %at
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %x, %less
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
define void @twice(ptr %a, i32 %count) {
entry:
  %less = add i32 %count, -1
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %iteration ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %loaded = load i32, ptr %at
  store i32 1, ptr %at
  %next = add nuw nsw i32 %x, 1
  %more = icmp eq i32 %x, 0
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
define void @not_known(ptr %a, i32 %count) {
entry:
  %less = add i32 %count, -1
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %iteration ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %loaded = load i32, ptr %at
  store i32 1, ptr %at
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %x, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
define void @other(ptr %a, i32 %count) {
entry:
  %less = add i32 %count, -1
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %iteration ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %loaded = load i32, ptr %at
  store i32 1, ptr %at
  %next = add nuw nsw i32 %x, 1
  %more = icmp ugt i32 %next, %count
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}
define void @changing(ptr %a, i32 %count) {
entry:
  %less = add i32 %count, -1
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %iteration ]
  %at = getelementptr inbounds i32, ptr %a, i32 %x
  %loaded = load i32, ptr %at
  store i32 1, ptr %at
  %next = add nuw nsw i32 %x, 1
  %more = icmp ult i32 %next, %loaded
  br i1 %more, label %iteration, label %done, !llvm.loop !0
done:
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"ptxrun.threads", !"x"}
