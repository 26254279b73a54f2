; SPDX-License-Identifier: Apache-2.0
; Rows read and written backwards.
; arrays: a=4:f32 b=4:f32 c=4:f32

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr float, ptr %b, i64 %i
  %last = sub nsw i32 %nx, 1
  %back = sub nsw i32 %last, %x
  %at = add nsw i32 %row, %back
  %at64 = sext i32 %at to i64
  %p = getelementptr float, ptr %a, i64 %at64
  %v = load float, ptr %p
  %w = load float, ptr %pb
  %r = fsub float %v, %w
  %q = getelementptr float, ptr %c, i64 %at64
  store float %r, ptr %q
  ret void
}
