; Where the two sides of a divergent branch meet, a phi of different values is varying, though both are
; uniform; after a uniform branch it is not.
declare i32 @rt_sreg_tid_x(ptr) memory(none)
declare i32 @rt_sreg_ctaid_x(ptr) memory(none)

define void @diamond(ptr %ctx, ptr %out) {
entry:
  %tid = call i32 @rt_sreg_tid_x(ptr %ctx)
  %ctaid = call i32 @rt_sreg_ctaid_x(ptr %ctx)
  %is.low = icmp ult i32 %tid, 7
  br i1 %is.low, label %low, label %high
low:
  %a = add i32 %ctaid, 1
  br label %meet
high:
  %b = add i32 %ctaid, 2
  br label %meet
meet:
  %either = phi i32 [ %a, %low ], [ %b, %high ]
  %both = phi i32 [ %ctaid, %low ], [ %ctaid, %high ]
  %is.first = icmp eq i32 %ctaid, 0
  br i1 %is.first, label %first, label %end
first:
  %c = add i32 %tid, 4
  br label %end
end:
  %uniform = phi i32 [ 1, %first ], [ 2, %meet ]
  %affine = phi i32 [ %c, %first ], [ %tid, %meet ]
  %mixed = phi i32 [ %c, %first ], [ 2, %meet ]
  store i32 %uniform, ptr %out
  ret void
}
