; SPDX-License-Identifier: Apache-2.0
; Two ways out of a divergent loop, to different places.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %i
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  br label %head

head:
  %k = phi i32 [ %v, %0 ], [ %k.next, %again ]
  %big = icmp ugt i32 %k, 20
  br i1 %big, label %out.big, label %body

body:
  %m = and i32 %k, 3
  %hit = icmp eq i32 %m, 1
  br i1 %hit, label %out.hit, label %again

again:
  %k.next = add i32 %k, 3
  br label %head

out.big:
  %w = load i32, ptr %pa
  %r1 = add i32 %w, %k
  br label %end

out.hit:
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %k
  store i32 %new.1, ptr %pc
  br label %end

end:
  %r = phi i32 [ %r1, %out.big ], [ %k, %out.hit ]
  %old = load i32, ptr %pc
  %s = xor i32 %old, %r
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %s
  store i32 %new.2, ptr %pc
  ret void
}
