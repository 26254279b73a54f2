; SPDX-License-Identifier: Apache-2.0
; A row's loop with work of the row before and after it.
; run: ny=1,2,3,4

define void @kernel(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny) {
  br label %y

y:
  %yi = phi i32 [ 0, %0 ], [ %y.next, %y.latch ]
  %y64 = zext i32 %yi to i64
  %py = getelementptr i32, ptr %a, i64 %y64
  %vy = load i32, ptr %py
  %odd = trunc i32 %yi to i1
  br i1 %odd, label %y.odd, label %y.go

y.odd:
  %vy2 = mul i32 %vy, 3
  br label %y.go

y.go:
  %w = phi i32 [ %vy, %y ], [ %vy2, %y.odd ]
  %row = mul nsw i32 %yi, %nx
  br label %x

x:
  %xi = phi i32 [ 0, %y.go ], [ %x.next, %x.latch ]
  %t = add nsw i32 %row, %xi
  %i = zext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %v = load i32, ptr %pb
  %pc = getelementptr i32, ptr %c, i64 %i
  %s = add i32 %v, %w
  store i32 %s, ptr %pc
  br label %x.latch

x.latch:
  %x.next = add nuw nsw i32 %xi, 1
  %x.more = icmp ult i32 %x.next, %nx
  br i1 %x.more, label %x, label %x.done

x.done:
  br label %y.latch

y.latch:
  %y.next = add nuw nsw i32 %yi, 1
  %y.more = icmp ult i32 %y.next, %ny
  br i1 %y.more, label %y, label %y.done

y.done:
  ret void
}
