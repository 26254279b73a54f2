; SPDX-License-Identifier: Apache-2.0
; Only some lanes read their row and the next one's; behind the last row there is nothing, and
; nothing before the first.
; run: nx=1,7,16,33,96 ny=1,3,4
; arrays: a=40 b=40 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %off = mul nsw i64 %i, 40
  %q = getelementptr i32, ptr %c, i64 %i
  %old = load i32, ptr %q
  %odd = and i32 %old, 3
  %wants = icmp ne i32 %odd, 0
  %following = add nsw i32 %t, 1
  %has.next = icmp slt i32 %following, %n
  %do.next = select i1 %has.next, i1 %wants, i1 false
  br i1 %do.next, label %ahead, label %middle

ahead:
  %a0 = getelementptr i8, ptr %a, i64 %off
  %a1 = getelementptr i8, ptr %a0, i64 40
  %v0 = load i32, ptr %a0
  %v1 = load i32, ptr %a1
  %v1.5 = mul i32 %v1, 5
  %v = xor i32 %v0, %v1.5
  %v.3 = mul i32 %old, 3
  %new.a = add i32 %v.3, %v
  store i32 %new.a, ptr %q
  br label %middle

middle:
  %now = phi i32 [ %new.a, %ahead ], [ %old, %0 ]
  %has.before = icmp sgt i32 %t, 0
  %big = icmp slt i32 %old, 1000000000
  %do.before = select i1 %has.before, i1 %big, i1 false
  br i1 %do.before, label %behind, label %end

behind:
  %b0 = getelementptr i8, ptr %b, i64 %off
  %b1 = getelementptr i8, ptr %b0, i64 -40
  %w0 = load i32, ptr %b0
  %w1 = load i32, ptr %b1
  %w1.7 = mul i32 %w1, 7
  %w = xor i32 %w0, %w1.7
  %w.3 = mul i32 %now, 3
  %new.b = add i32 %w.3, %w
  store i32 %new.b, ptr %q
  br label %end

end:
  ret void
}
