; SPDX-License-Identifier: Apache-2.0
; Elements of arrays of all threads, element after element, for some of the threads: indices of the
; others lead nowhere. Words of 64 bits, floats and bytes.
; arrays: a=4:small b=64 c=80:f32

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %v = load i32, ptr %pa
  %pitch = sext i32 %n to i64
  %bit = and i32 %v, 8
  %is.in = icmp ne i32 %bit, 0
  %seven = and i32 %v, 7
  %wild = mul i32 %v, 268435399
  %index = select i1 %is.in, i32 %seven, i32 %wild
  %wide = sext i32 %index to i64
  %first = mul i64 %wide, %pitch
  %place = add i64 %first, %i
  %p = getelementptr i64, ptr %b, i64 %place
  %q = getelementptr float, ptr %c, i64 %place
  %bytes = mul i64 %pitch, 64
  %r.0 = getelementptr i8, ptr %c, i64 %bytes
  %r = getelementptr i8, ptr %r.0, i64 %place
  br i1 %is.in, label %in, label %end

in:
  %old = load i64, ptr %p, !ptxrun.in_array !0
  %three = mul i64 %old, 3
  %new = add i64 %three, %i
  store i64 %new, ptr %p, !ptxrun.in_array !0
  %f = load float, ptr %q, !ptxrun.in_array !0
  %g = fadd float %f, 1.0
  store float %g, ptr %q, !ptxrun.in_array !0
  %h = load i8, ptr %r, !ptxrun.in_array !0
  %j = mul i8 %h, 5
  store i8 %j, ptr %r, !ptxrun.in_array !0
  br label %end

end:
  ret void
}

!0 = !{}
