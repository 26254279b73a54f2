; SPDX-License-Identifier: Apache-2.0
; The same under a mask, from a gathered address, and one address for all.
; arrays: a=16+64:f32 b=4:small c=16

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr <4 x float>, ptr %a, i64 %i
  %pc = getelementptr <4 x float>, ptr %c, i64 %i
  %pn = getelementptr i32, ptr %b, i64 %i
  %k = load i32, ptr %pn
  %c0 = icmp ugt i32 %k, 6
  br i1 %c0, label %do, label %end

do:
  %v = load <4 x float>, ptr %pa, align 16
  %k3 = and i32 %k, 3
  %k64 = zext i32 %k3 to i64
  %pg = getelementptr <4 x float>, ptr %a, i64 %k64
  %g = load <4 x float>, ptr %pg, align 16
  %u = load <4 x float>, ptr %a, align 16
  %s = fadd <4 x float> %v, %g
  %s2 = fadd <4 x float> %s, %u
  store <4 x float> %s2, ptr %pc, align 16
  br label %end

end:
  ret void
}
