; SPDX-License-Identifier: Apache-2.0
; A branch to the end after a store is no guard: iterations cannot begin anew.
; run: n=all,half,1,1000

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pc
  %one = add i32 %v, 1
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %one
  store i32 %new.1, ptr %pc
  %in = icmp ult i32 %t, %n
  br i1 %in, label %do, label %end

do:
  %w = load i32, ptr %pc
  %r = mul i32 %w, 3
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %r
  store i32 %new.2, ptr %pc
  br label %end

end:
  ret void
}
