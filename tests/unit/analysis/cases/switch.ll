; Cases that share a block, fall through, and meet.
declare i32 @rt_sreg_tid_x(ptr) memory(none)
declare i32 @rt_sreg_ctaid_x(ptr) memory(none)
declare void @rt_bar_sync(ptr, i32, i32)

define void @switch(ptr %ctx, ptr %out) {
entry:
  %tid = call i32 @rt_sreg_tid_x(ptr %ctx)
  %ctaid = call i32 @rt_sreg_ctaid_x(ptr %ctx)
  switch i32 %tid, label %other [
    i32 0, label %zero
    i32 1, label %one
    i32 2, label %one
  ]
zero:
  br label %one
one:
  %falls = phi i32 [ 1, %entry ], [ 1, %entry ], [ 2, %zero ]
  br label %meet
other:
  br label %meet
meet:
  %which = phi i32 [ 1, %one ], [ 2, %other ]
  call void @rt_bar_sync(ptr %ctx, i32 0, i32 0)
  switch i32 %ctaid, label %end [
    i32 0, label %a
    i32 1, label %b
  ]
a:
  br label %end
b:
  br label %end
end:
  %uniform = phi i32 [ 0, %meet ], [ 1, %a ], [ 2, %b ]
  call void @rt_bar_sync(ptr %ctx, i32 1, i32 0)
  store i32 %which, ptr %out
  store i32 %uniform, ptr %out
  ret void
}
