; SPDX-License-Identifier: Apache-2.0
; Parts of a thread's number in other places, as addresses of elements have them: shifted up and
; down, from the middle, with constants between, narrow and wide; some that no row has in order.
; run: nx=16,32,37,80,96,192
; nest: x
; arrays: a=16+4096 b=4+4096 c=64+4096

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %wide = zext nneg i32 %x to i64
  %up = shl nuw nsw i64 %wide, 2
  %low = and i64 %up, 60
  %high = and i64 %up, 960
  %between = or disjoint i64 %high, 8
  %narrow = trunc i32 %x to i8
  %middle = and i8 %narrow, 48
  %moved = lshr i8 %middle, 4
  %moved.long = zext nneg i8 %moved to i64
  %cut = lshr i32 %x, 1
  %cut.low = and i32 %cut, 7
  %cut.long = zext nneg i32 %cut.low to i64
  %pa = getelementptr i8, ptr %a, i64 %low
  %pa.up = getelementptr i8, ptr %a, i64 %between
  %pb = getelementptr i32, ptr %b, i64 %moved.long
  %pb.cut = getelementptr i32, ptr %b, i64 %cut.long
  %v1 = load i32, ptr %pa
  %v2 = load i32, ptr %pa.up
  %v3 = load i32, ptr %pb
  %v4 = load i32, ptr %pb.cut
  %s1 = mul i32 %v1, %v2
  %s2 = xor i32 %v3, %v4
  %s3 = add i32 %s1, %s2
  %is.first = icmp ult i32 %x, 16
  br i1 %is.first, label %first, label %all
first:
  %more = mul i32 %s3, 5
  br label %all
all:
  %r = phi i32 [ %more, %first ], [ %s3, %0 ]
  %pc = getelementptr i32, ptr %c, i32 %x
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %r
  store i32 %new, ptr %pc
  ret void
}
