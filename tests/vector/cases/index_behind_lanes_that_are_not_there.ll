; SPDX-License-Identifier: Apache-2.0
; Lanes of the first vectors are not there, and their indices have wrapped.
; run: nx=37,64,96 n=20,3,37
; nest: x
; arrays: a=4 b=4 c=4
define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %w = zext i32 %x to i64
  %q = getelementptr i32, ptr %b, i64 %w
  store i32 7, ptr %q
  %in = icmp sge i32 %x, %n
  br i1 %in, label %then, label %end
then:
  %d = sub nsw i32 %x, %n
  %i = zext nneg i32 %d to i64
  %p = getelementptr i32, ptr %c, i64 %i
  %old = load i32, ptr %p
  %three = mul i32 %old, 3
  %new = add i32 %three, 1
  store i32 %new, ptr %p
  br label %end
end:
  ret void
}
