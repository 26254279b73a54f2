; SPDX-License-Identifier: Apache-2.0
; One arm, a store in it. Every block writes down that it ran.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %odd = trunc i32 %v to i1
  br i1 %odd, label %then, label %end

then:
  %was.1 = load i32, ptr %pc
  %six.1 = mul i32 %was.1, 6
  %now.1 = add i32 %six.1, 1
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %now.1
  store i32 %new.1, ptr %pc
  %r = add i32 %v, 100
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %r
  store i32 %new.2, ptr %pc
  br label %end

end:
  ret void
}
