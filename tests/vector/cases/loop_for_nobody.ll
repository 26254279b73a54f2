; SPDX-License-Identifier: Apache-2.0
; A short loop without effects that all lanes leave together, behind a condition that is true of
; nobody where its limit is 0: done for nobody, it would go once around all numbers.
; run: nx=1,7,16,33 ny=1,3 n=0,1,9
; arrays: a=4 b=4:small c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %v = load i32, ptr %pb
  %some = icmp ult i32 %v, %n
  br i1 %some, label %head, label %end

head:
  %k = phi i32 [ 0, %0 ], [ %k.next, %head ]
  %s = phi i32 [ %v, %0 ], [ %s.next, %head ]
  %s.3 = mul i32 %s, 3
  %s.next = xor i32 %s.3, %k
  %k.next = add nuw i32 %k, 1
  %done = icmp eq i32 %k.next, %n
  br i1 %done, label %end, label %head

end:
  %r = phi i32 [ %v, %0 ], [ %s.next, %head ]
  %old = load i32, ptr %pc
  %new = xor i32 %old, %r
  store i32 %new, ptr %pc
  ret void
}
