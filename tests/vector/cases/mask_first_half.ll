; SPDX-License-Identifier: Apache-2.0
; Of four vectors side by side all lanes of two are inside, half of the third, and none of the last.
; Lanes exchange a word, store, or do nothing as a number says that is loaded lane by lane. LLVM 22
; forgets of a mask that the lanes behind its first half are outside.
; run: nx=64,33,128 n=1
; nest: x
; arrays: a=64+64 b=16 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %own = sext i32 %x to i64
  %pz = getelementptr double, ptr %b, i64 %own
  store double 0.0, ptr %pz, align 8
  %is.inside = icmp ult i32 %x, 40
  br i1 %is.inside, label %inside, label %end

end:
  ret void

inside:
  %far = mul i64 %own, 64
  %pa = getelementptr i8, ptr %a, i64 %far
  %va = load i16, ptr %pa, align 2
  %wide = zext i16 %va to i32
  %low = and i32 %wide, 7
  switch i32 %low, label %end [
    i32 0, label %exchange
    i32 4, label %exchange
    i32 6, label %exchange
    i32 7, label %exchange
    i32 1, label %store
    i32 3, label %half
  ]

exchange:
  %pc = getelementptr i32, ptr %c, i64 %own
  %old = atomicrmw xchg ptr %pc, i32 %x monotonic, align 4
  br label %end

store:
  %pd = getelementptr i8, ptr %pa, i64 8
  store double 1.0, ptr %pd, align 8
  br label %end

half:
  %place = zext i32 %x to i64
  %rows = zext i32 %nx to i64
  %behind = shl i64 %rows, 3
  %halves = getelementptr i8, ptr %b, i64 %behind
  %pb = getelementptr i16, ptr %halves, i64 %place
  store i16 7, ptr %pb, align 2
  br label %end
}
