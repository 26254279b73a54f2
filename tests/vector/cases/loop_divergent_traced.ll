; SPDX-License-Identifier: Apache-2.0
; Each lane leaves when its own point has left the circle (Mandelbrot). Every block writes down that it ran.

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
  %was.1 = load i32, ptr %pc
  %six.1 = mul i32 %was.1, 6
  %now.1 = add i32 %six.1, 1
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %now.1
  store i32 %new.1, ptr %pc
  %rr = fmul float %zr, %zr
  %ii = fmul float %zi, %zi
  %d = fadd float %rr, %ii
  %in = fcmp olt float %d, 4.0
  %more = icmp ult i32 %k, 30
  %on = and i1 %in, %more
  br i1 %on, label %body, label %out

body:
  %was.2 = load i32, ptr %pc
  %six.2 = mul i32 %was.2, 6
  %now.2 = add i32 %six.2, 2
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %now.2
  store i32 %new.2, ptr %pc
  %ri = fmul float %zr, %zi
  %ri2 = fmul float %ri, 2.0
  %zi.next = fadd float %ri2, %ci
  %diff = fsub float %rr, %ii
  %zr.next = fadd float %diff, %cr2
  %k.next = add i32 %k, 1
  br label %head

out:
  %was.3 = load i32, ptr %pc
  %six.3 = mul i32 %was.3, 6
  %now.3 = add i32 %six.3, 3
  %old.3 = load i32, ptr %pc
  %three.3 = mul i32 %old.3, 3
  %new.3 = add i32 %three.3, %now.3
  store i32 %new.3, ptr %pc
  %old.4 = load i32, ptr %pc
  %three.4 = mul i32 %old.4, 3
  %new.4 = add i32 %three.4, %k
  store i32 %new.4, ptr %pc
  ret void
}
