; SPDX-License-Identifier: Apache-2.0
; Neighbours, as the lanes at the border of a tile have nothing to do there; in some rows none has.
; Bytes, scaled by shifts; the limit may be far inside the row, and lanes that are not active are poison.
; arrays: a=4:small b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nsw i32 %y, %nx
  %t = add nsw i32 %row, %x
  %i = sext i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %limit = sub nsw i32 %nx, %y
  %next = add nsw i32 %x, 1
  %inside = icmp slt i32 %next, %limit
  %low = icmp sgt i32 %x, %y
  %does = and i1 %inside, %low
  br i1 %does, label %do, label %end

do:
  %v = load i32, ptr %pb
  %top = call i32 @llvm.umin.i32(i32 %next, i32 %limit)
  %bytes = shl nuw nsw i32 %top, 2
  %rowbytes = mul nsw i32 %row, 4
  %at = add nsw i32 %rowbytes, %bytes
  %at64 = sext i32 %at to i64
  %p = getelementptr i8, ptr %a, i64 %at64
  %w = load i32, ptr %p
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %sum = add i32 %w, %v
  %new = add i32 %three, %sum
  store i32 %new, ptr %pc
  br label %end

end:
  ret void
}

declare i32 @llvm.umin.i32(i32, i32)
