; SPDX-License-Identifier: Apache-2.0
; Values of the row alone, and of the column alone, with loads.
; run: nx=1,7,16,33,96 ny=1,2,3,4,8
; arrays: a=4:f32 b=4:f32 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pc = getelementptr float, ptr %c, i64 %i
  %y64 = zext i32 %y to i64
  %x64 = zext i32 %x to i64
  %py = getelementptr float, ptr %a, i64 %y64
  %px = getelementptr float, ptr %b, i64 %x64
  %vy = load float, ptr %py
  %vx = load float, ptr %px
  %y2 = fmul float %vy, 2.0
  %x2 = fadd float %vx, 1.0
  %m = fmul float %x2, %y2
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %bits.1 = bitcast float %m to i32
  %new.1 = add i32 %three.1, %bits.1
  store i32 %new.1, ptr %pc
  ret void
}
