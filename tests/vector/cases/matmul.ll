; SPDX-License-Identifier: Apache-2.0
; A product of matrices: a row's element times a vector, in a loop.
; arrays: a=4:f32 b=4:f32 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr float, ptr %a, i64 %i
  %pb = getelementptr float, ptr %b, i64 %i
  %pc = getelementptr float, ptr %c, i64 %i
  br label %head

head:
  %k = phi i32 [ 0, %0 ], [ %k.next, %head ]
  %sum = phi float [ 0.0, %0 ], [ %sum.next, %head ]
  %ak = add nsw i32 %row, %k
  %ak64 = zext i32 %ak to i64
  %pak = getelementptr float, ptr %a, i64 %ak64
  %va = load float, ptr %pak
  %k3 = urem i32 %k, %ny
  %bk = mul nsw i32 %k3, %nx
  %bkx = add nsw i32 %bk, %x
  %bk64 = zext i32 %bkx to i64
  %pbk = getelementptr float, ptr %b, i64 %bk64
  %vb = load float, ptr %pbk
  %m = fmul float %va, %vb
  %sum.next = fadd float %sum, %m
  %k.next = add nuw nsw i32 %k, 1
  %more = icmp ult i32 %k.next, %nx
  br i1 %more, label %head, label %out

out:
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %bits.1 = bitcast float %sum.next to i32
  %new.1 = add i32 %three.1, %bits.1
  store i32 %new.1, ptr %pc
  ret void
}
