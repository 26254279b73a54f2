; SPDX-License-Identifier: Apache-2.0
; A loop that no lane of most vectors enters.
; arrays: a=4+32 b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %few = icmp ult i32 %x, 6
  br i1 %few, label %head, label %end

head:
  %k = phi i32 [ %x, %0 ], [ %k.next, %head ]
  %k64 = zext i32 %k to i64
  %p = getelementptr i32, ptr %a, i64 %k64
  %w = load i32, ptr %p
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %w
  store i32 %new.1, ptr %pc
  %k.next = add nuw nsw i32 %k, 1
  %more = icmp ult i32 %k.next, 8
  br i1 %more, label %head, label %end

end:
  ret void
}
