; Memory that others write, atomic operations, and functions.
declare i32 @rt_sreg_ctaid_x(ptr) memory(none)
declare i32 @pure(i32) memory(none)
declare i32 @reads(i32) memory(read)
declare float @llvm.sqrt.f32(float)

define void @memory_and_calls(ptr %ctx, ptr %out) {
entry:
  %ctaid = call i32 @rt_sreg_ctaid_x(ptr %ctx)
  %block = load ptr, ptr %ctx
  %launch = load ptr, ptr %block, !invariant.load !0
  %plain = load i32, ptr %launch
  %constant = load i32, ptr %launch, !invariant.load !0
  %volatile = load volatile i32, ptr %launch, !invariant.load !0
  %atomic = load atomic i32, ptr %launch monotonic, align 4, !invariant.load !0
  %added = atomicrmw add ptr %launch, i32 1 monotonic
  %own = alloca i32
  %from.own = load i32, ptr %own
  %f = call i32 @pure(i32 %ctaid)
  %g = call i32 @reads(i32 %ctaid)
  %float = sitofp i32 %f to float
  %root = call float @llvm.sqrt.f32(float %float)
  %two = insertelement <2 x i32> undef, i32 %f, i64 0
  %one = extractelement <2 x i32> %two, i64 0
  ret void
}

!0 = !{}
