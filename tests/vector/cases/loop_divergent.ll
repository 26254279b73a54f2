; SPDX-License-Identifier: Apache-2.0
; Each lane leaves when its own point has left the circle (Mandelbrot).

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %xf = sitofp i32 %x to float
  %yf = sitofp i32 %y to float
  %cr = fmul float %xf, 0.03125
  %cr2 = fsub float %cr, 1.5
  %ci = fmul float %yf, 0.25
  br label %head

head:
  %k = phi i32 [ 0, %0 ], [ %k.next, %body ]
  %zr = phi float [ 0.0, %0 ], [ %zr.next, %body ]
  %zi = phi float [ 0.0, %0 ], [ %zi.next, %body ]
  %rr = fmul float %zr, %zr
  %ii = fmul float %zi, %zi
  %d = fadd float %rr, %ii
  %in = fcmp olt float %d, 4.0
  %more = icmp ult i32 %k, 30
  %on = and i1 %in, %more
  br i1 %on, label %body, label %out

body:
  %ri = fmul float %zr, %zi
  %ri2 = fmul float %ri, 2.0
  %zi.next = fadd float %ri2, %ci
  %diff = fsub float %rr, %ii
  %zr.next = fadd float %diff, %cr2
  %k.next = add i32 %k, 1
  br label %head

out:
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %k
  store i32 %new.1, ptr %pc
  ret void
}
