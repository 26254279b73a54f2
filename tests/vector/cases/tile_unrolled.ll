; SPDX-License-Identifier: Apache-2.0
; An unrolled product of tiles: without a loop, rows share vectors and threads of a row share scalars.
; run: nx=16,21,33,48 ny=8,12,16 n=row
; arrays: a=4 b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = zext nneg i32 %t to i64
  %row64 = zext nneg i32 %row to i64
  %x64 = zext nneg i32 %x to i64
  %pitch = zext nneg i32 %nx to i64
  %own = getelementptr i32, ptr %c, i64 %i
  %pa = getelementptr i32, ptr %a, i64 %row64
  %pb0 = getelementptr i32, ptr %b, i64 %x64
  %old = load i32, ptr %own
  %sum0 = mul i32 %old, 3
  %pa0 = getelementptr i32, ptr %pa, i64 0
  %va0 = load i32, ptr %pa0
  %vb0 = load i32, ptr %pb0
  %product0 = mul i32 %va0, %vb0
  %sum1 = add i32 %sum0, %product0
  %pb1 = getelementptr i32, ptr %pb0, i64 %pitch
  %pa1 = getelementptr i32, ptr %pa, i64 1
  %va1 = load i32, ptr %pa1
  %vb1 = load i32, ptr %pb1
  %product1 = mul i32 %va1, %vb1
  %sum2 = add i32 %sum1, %product1
  %pb2 = getelementptr i32, ptr %pb1, i64 %pitch
  %pa2 = getelementptr i32, ptr %pa, i64 2
  %va2 = load i32, ptr %pa2
  %vb2 = load i32, ptr %pb2
  %product2 = mul i32 %va2, %vb2
  %sum3 = add i32 %sum2, %product2
  %pb3 = getelementptr i32, ptr %pb2, i64 %pitch
  %pa3 = getelementptr i32, ptr %pa, i64 3
  %va3 = load i32, ptr %pa3
  %vb3 = load i32, ptr %pb3
  %product3 = mul i32 %va3, %vb3
  %sum4 = add i32 %sum3, %product3
  %pb4 = getelementptr i32, ptr %pb3, i64 %pitch
  %pa4 = getelementptr i32, ptr %pa, i64 4
  %va4 = load i32, ptr %pa4
  %vb4 = load i32, ptr %pb4
  %product4 = mul i32 %va4, %vb4
  %sum5 = add i32 %sum4, %product4
  %pb5 = getelementptr i32, ptr %pb4, i64 %pitch
  %pa5 = getelementptr i32, ptr %pa, i64 5
  %va5 = load i32, ptr %pa5
  %vb5 = load i32, ptr %pb5
  %product5 = mul i32 %va5, %vb5
  %sum6 = add i32 %sum5, %product5
  %pb6 = getelementptr i32, ptr %pb5, i64 %pitch
  %pa6 = getelementptr i32, ptr %pa, i64 6
  %va6 = load i32, ptr %pa6
  %vb6 = load i32, ptr %pb6
  %product6 = mul i32 %va6, %vb6
  %sum7 = add i32 %sum6, %product6
  %pb7 = getelementptr i32, ptr %pb6, i64 %pitch
  %pa7 = getelementptr i32, ptr %pa, i64 7
  %va7 = load i32, ptr %pa7
  %vb7 = load i32, ptr %pb7
  %product7 = mul i32 %va7, %vb7
  %sum8 = add i32 %sum7, %product7
  store i32 %sum8, ptr %own
  ret void
}
