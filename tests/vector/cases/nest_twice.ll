; SPDX-License-Identifier: Apache-2.0
; Two nests one after another, around which a loop runs three times.
; arrays: a=4 b=4:small c=4

define void @kernel(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny) {
  br label %again

again:
  %k = phi i32 [ 0, %0 ], [ %k.next, %done ]
  br label %y

y:
  %yi = phi i32 [ 0, %again ], [ %y.next, %y.latch ]
  %row = mul nsw i32 %yi, %nx
  br label %x

x:
  %xi = phi i32 [ 0, %y ], [ %x.next, %x.latch ]
  %t = add nsw i32 %row, %xi
  %i = zext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %v = load i32, ptr %pb
  %pc = getelementptr i32, ptr %c, i64 %i
  %s = mul i32 %v, %k
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
  br i1 %y.more, label %y, label %between

between:
  %total = mul nuw nsw i32 %nx, %ny
  br label %x2

x2:
  %xj = phi i32 [ 0, %between ], [ %x2.next, %x.latch.2 ]
  %last = sub nsw i32 %total, 1
  %back = sub nsw i32 %last, %xj
  %back64 = zext i32 %back to i64
  %pc2 = getelementptr i32, ptr %c, i64 %back64
  %u = load i32, ptr %pc2
  %odd = trunc i32 %u to i1
  br i1 %odd, label %do, label %x.latch.2

do:
  %u3 = udiv i32 %u, 3
  %pb2 = getelementptr i32, ptr %b, i64 %back64
  store i32 %u3, ptr %pb2
  br label %x.latch.2

x.latch.2:
  %x2.next = add nuw nsw i32 %xj, 1
  %x2.more = icmp ult i32 %x2.next, %total
  br i1 %x2.more, label %x2, label %done

done:
  %k.next = add nuw nsw i32 %k, 1
  %more = icmp ult i32 %k.next, 3
  br i1 %more, label %again, label %end

end:
  ret void
}
