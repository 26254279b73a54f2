; Neighbours in memory, one address for all, a list of indices; what threads compute of them.
define void @straight(ptr %a, ptr %b, i32 %n, i32 %count) {
entry:
  br label %iteration
iteration:
  %x = phi i32 [ 0, %entry ], [ %next, %latch ]
  %i = sext i32 %x to i64
  %at = getelementptr inbounds float, ptr %a, i64 %i
  %v = load float, ptr %at
  %one = load float, ptr %b
  %sum = fadd float %v, %one
  %where = fptoui float %sum to i32
  %random = getelementptr inbounds i32, ptr %b, i32 %where
  %w = load i32, ptr %random
  %quotient = udiv i32 %w, %n
  %fifth = udiv i32 %w, 5
  %scaled = mul i32 %x, %n
  %twice = shl nuw nsw i32 %x, 1
  %same = select i1 true, i32 %n, i32 %n
  %never = icmp ult i32 %w, %n
  %worse = select i1 %never, i32 %n, i32 %n
  %pair = load <2 x float>, ptr %b
  %first = extractelement <2 x float> %pair, i32 0
  %changing = load volatile i32, ptr %b
  store i32 %quotient, ptr %random
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
