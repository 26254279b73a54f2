; SPDX-License-Identifier: Apache-2.0
; An index that does not wrap, less one: the first thread of a row is not there, and comes before the
; array.
; arrays: a=4+64 b=4:small c=4
; run: nx=1,7,16,33,96 ny=1,3,4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nuw i32 %y, %nx
  %t = add nuw i32 %row, %x
  %z = zext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %z
  %pb = getelementptr i32, ptr %b, i64 %z
  %k = load i32, ptr %pb
  %large = icmp ugt i32 %k, 6
  %first = icmp ne i32 %x, 0
  %both = and i1 %large, %first
  br i1 %both, label %do, label %end

do:
  %back = add nuw i32 %row, %x
  %back64 = zext i32 %back to i64
  %row64 = zext i32 %row to i64
  %twice = add i64 %back64, %row64
  %far = sub i64 %twice, 1
  %left = sub i64 %far, %row64
  %pl = getelementptr i32, ptr %a, i64 %left
  %v = load i32, ptr %pl
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %s = add i32 %three, %v
  store i32 %s, ptr %pc
  br label %end

end:
  ret void
}
