; SPDX-License-Identifier: Apache-2.0
; The same under a mask that leaves out the first lanes.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pc = getelementptr i32, ptr %c, i64 %i
  %in = icmp ugt i32 %x, 4
  br i1 %in, label %do, label %end

do:
  %d = sub nuw nsw i32 %x, 5
  %z = zext i32 %d to i64
  %m = mul nuw nsw i64 %z, 3000000000
  %h = lshr i64 %m, 32
  %th = trunc i64 %h to i32
  %tr = trunc nuw i32 %d to i16
  %trm = mul i16 %tr, 7
  %s16 = sext i16 %trm to i32
  %lt = icmp ult i32 %d, 20
  %gt = icmp sgt i32 %d, 9
  %sel = select i1 %lt, i32 %d, i32 77
  %selz = zext i1 %gt to i32
  %nn = zext nneg i32 %d to i64
  %p = getelementptr inbounds nuw i32, ptr %a, i64 %nn
  %w = load i32, ptr %p
  %a1 = add i32 %th, %s16
  %a2 = xor i32 %a1, %sel
  %a3 = add i32 %a2, %selz
  %a4 = xor i32 %a3, %w
  %old.1 = load i32, ptr %pc
  %three.1 = mul i32 %old.1, 3
  %new.1 = add i32 %three.1, %a4
  store i32 %new.1, ptr %pc
  br label %end

end:
  ret void
}
