; SPDX-License-Identifier: Apache-2.0
; All threads divide by one number, with whose inverse vectors multiply: at the ends of ranges, by
; divisors of either sign. In doubles (1 / 49) * 49 is less than 1.
; run: nx=1,33,64 ny=1,3 n=1,3,49,1000,65537,2147483647
; arrays: a=4 b=4 c=32

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %before = mul nuw nsw i32 %y, %nx
  %t = add nuw nsw i32 %before, %x
  %t.long = zext nneg i32 %t to i64
  %pa = getelementptr i32, ptr %a, i64 %t.long
  %bits = load i32, ptr %pa
  %less = sub i32 0, %n
  %is.one = icmp eq i32 %n, 1
  %negative = select i1 %is.one, i32 -3, i32 %less
  %multiple = mul i32 %bits, %n
  %below = sub i32 %multiple, 1
  %shift = and i32 %t, 15
  %doubled = shl i32 %n, %shift
  %q.1 = udiv i32 %bits, %n
  %q.2 = udiv i32 %multiple, %n
  %q.3 = udiv i32 %below, %n
  %q.4 = urem i32 %bits, %negative
  %q.5 = sdiv i32 %bits, %negative
  %q.6 = srem i32 %below, %n
  %q.7 = udiv i32 %doubled, %n
  %q.8 = srem i32 %multiple, %negative
  %i = shl nuw nsw i64 %t.long, 3
  %p.1 = getelementptr i32, ptr %c, i64 %i
  store i32 %q.1, ptr %p.1
  %p.2 = getelementptr i32, ptr %p.1, i64 1
  store i32 %q.2, ptr %p.2
  %p.3 = getelementptr i32, ptr %p.1, i64 2
  store i32 %q.3, ptr %p.3
  %p.4 = getelementptr i32, ptr %p.1, i64 3
  store i32 %q.4, ptr %p.4
  %p.5 = getelementptr i32, ptr %p.1, i64 4
  store i32 %q.5, ptr %p.5
  %p.6 = getelementptr i32, ptr %p.1, i64 5
  store i32 %q.6, ptr %p.6
  %p.7 = getelementptr i32, ptr %p.1, i64 6
  store i32 %q.7, ptr %p.7
  %p.8 = getelementptr i32, ptr %p.1, i64 7
  store i32 %q.8, ptr %p.8
  ret void
}
