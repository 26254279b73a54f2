; SPDX-License-Identifier: Apache-2.0
; The mean of a point and its neighbours, inside of the rim.
; run: ny=1,3,4,8
; arrays: a=4:f32 b=4 c=4:f32

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr float, ptr %a, i64 %i
  %pc = getelementptr float, ptr %c, i64 %i
  %x.in = icmp sgt i32 %x, 0
  %x.last = sub nsw i32 %nx, 1
  %x.in2 = icmp slt i32 %x, %x.last
  %y.in = icmp sgt i32 %y, 0
  %y.last = sub nsw i32 %ny, 1
  %y.in2 = icmp slt i32 %y, %y.last
  %c1 = and i1 %x.in, %x.in2
  %c2 = and i1 %y.in, %y.in2
  %c3 = and i1 %c1, %c2
  br i1 %c3, label %do, label %end

do:
  %nx64 = sext i32 %nx to i64
  %up = sub nsw i64 %i, %nx64
  %down = add nsw i64 %i, %nx64
  %pu = getelementptr float, ptr %a, i64 %up
  %pd = getelementptr float, ptr %a, i64 %down
  %pl = getelementptr float, ptr %pa, i64 -1
  %pr = getelementptr float, ptr %pa, i64 1
  %u = load float, ptr %pu
  %d = load float, ptr %pd
  %l = load float, ptr %pl
  %r = load float, ptr %pr
  %s1 = fadd float %u, %d
  %s2 = fadd float %l, %r
  %s3 = fadd float %s1, %s2
  %m = fmul float %s3, 0.25
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %bits.1 = bitcast float %m to i32
  %new.1 = add i32 %three.1, %bits.1
  store i32 %new.1, ptr %pc
  br label %end

end:
  ret void
}
