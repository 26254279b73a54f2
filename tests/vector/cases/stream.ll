; SPDX-License-Identifier: Apache-2.0
; Stores past the caches: of whole vectors, for some rows of threads, of words and of bytes; not all
; rows begin with a line, or end with one.
; run: nx=16,63,64,100,128 ny=1,2,5 n=all,half,97
; arrays: a=4 b=1 c=8

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %va = load i32, ptr %pa
  %pc = getelementptr i64, ptr %c, i64 %i
  %old = load i64, ptr %pc
  %wide = zext i32 %va to i64
  %three = mul i64 %old, 3
  %new = add i64 %three, %wide
  store i64 %new, ptr %pc, !ptxrun.nontemporal !0
  %in = icmp slt i32 %t, %n
  br i1 %in, label %do, label %end

do:
  %five = mul i32 %va, 5
  store i32 %five, ptr %pa, !ptxrun.nontemporal !0
  %pb = getelementptr i8, ptr %b, i64 %i
  %vb = load i8, ptr %pb
  %low = trunc i32 %va to i8
  %sum = add i8 %vb, %low
  store i8 %sum, ptr %pb, !ptxrun.nontemporal !0
  br label %end

end:
  ret void
}

!0 = !{}
