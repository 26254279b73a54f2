; SPDX-License-Identifier: Apache-2.0
; One thread faults: so does every run.
; expect: fault

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %last = sub nsw i32 %nx, 1
  %bad = icmp eq i32 %x, %last
  br i1 %bad, label %fault, label %good

fault:
  call void @rt_fault(ptr %c, i32 3, i64 %i)
  unreachable

good:
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %x
  store i32 %new.1, ptr %pc
  ret void
}

declare void @rt_fault(ptr, i32, i64) noreturn
