; What arithmetic does to a stride, and when it survives a change of width: sign extension needs the flags
; that say that nothing wraps.
declare i32 @rt_sreg_tid_x(ptr) memory(none)
declare i32 @rt_sreg_ctaid_x(ptr) memory(none)

define void @affine(ptr %ctx, ptr %out) {
entry:
  %tid = call i32 @rt_sreg_tid_x(ptr %ctx)
  %ctaid = call i32 @rt_sreg_ctaid_x(ptr %ctx)
  %block = load ptr, ptr %ctx, !invariant.load !0
  %times = mul nsw i32 %tid, 12
  %shifted = shl nsw i32 %times, 2
  %sum = add nsw i32 %shifted, %ctaid
  %exact = sext i32 %sum to i64
  %may.wrap = add i32 %shifted, %ctaid
  %inexact = sext i32 %may.wrap to i64
  %low = trunc i32 %may.wrap to i8
  %no.stride = shl i32 %tid, 31
  %gone = shl i32 %no.stride, 1
  %negative = sub nsw i32 100, %tid
  %inverse = xor i32 %tid, -1
  %with.bits = or disjoint i32 %times, 3
  %or = or i32 %times, 3
  %and = and i32 %tid, 3
  %scaled = mul i32 %tid, %ctaid
  %distance = sub i32 %sum, %shifted
  %is.ordered = icmp slt i32 %shifted, %sum
  %is.same = icmp eq i32 %times, %tid
  %is.even = icmp eq i32 %sum, %may.wrap
  %unsigned = zext i32 %sum to i64
  %nonnegative = zext nneg i32 %tid to i64
  %place = getelementptr i32, ptr %block, i64 %nonnegative
  %short = getelementptr i32, ptr %block, i32 %sum
  %short.may.wrap = getelementptr i32, ptr %block, i32 %may.wrap
  %field = getelementptr [4 x { i32, [6 x i16] }], ptr %block, i64 %nonnegative, i64 2, i32 1, i64 %exact
  %number = ptrtoint ptr %place to i64
  %further = add i64 %number, 4096
  %pointer = inttoptr i64 %further to ptr
  %frozen = freeze i32 %sum
  %float = sitofp i32 %tid to float
  %first = icmp eq i32 %ctaid, 0
  %chosen = select i1 %first, i32 %tid, i32 %negative
  %same.stride = select i1 %first, i32 %tid, i32 %with.bits
  %both = select i1 %first, i32 %times, i32 %with.bits
  ret void
}

!0 = !{}
