; SPDX-License-Identifier: Apache-2.0
; A check in an arm that some lanes take, and in a loop.
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %c0 = icmp ugt i32 %v, 5
  br i1 %c0, label %head, label %end

head:
  %k = phi i32 [ 0, %0 ], [ %k.next, %good ]
  %q = udiv i32 200, %v
  %bad = icmp ugt i32 %q, 40
  br i1 %bad, label %fault, label %good

fault:
  call void @rt_fault(ptr %c, i32 3, i64 %i)
  unreachable

good:
  %k.next = add i32 %k, 1
  %more = icmp ult i32 %k.next, %v
  br i1 %more, label %head, label %out

out:
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %k.next
  store i32 %new.1, ptr %pc
  br label %end

end:
  ret void
}

declare void @rt_fault(ptr, i32, i64) noreturn
