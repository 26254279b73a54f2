; SPDX-License-Identifier: Apache-2.0
; Rows that are compared with a limit by what wraps from one of them to the next.
; run: ny=1,2,3,4,8 n=1,2,3,5,all

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul nuw nsw i32 %y, %nx
  %t = add nuw nsw i32 %row, %x
  %i = zext nneg i32 %t to i64
  %pb = getelementptr i32, ptr %b, i64 %i
  %pc = getelementptr i32, ptr %c, i64 %i
  %y1 = sub i32 %y, 1
  %far = icmp ugt i32 %y1, %n
  %right = icmp ugt i32 %x, 0
  %outside = and i1 %far, %right
  br i1 %outside, label %third, label %fourth

third:
  %old.2 = load i32, ptr %pc
  %three.2 = mul i32 %old.2, 3
  %new.2 = add i32 %three.2, %y
  store i32 %new.2, ptr %pc
  br label %fourth

fourth:
  %up = add i32 %y, 2147483646
  %limit = add i32 %n, 2147483640
  %less = icmp slt i32 %up, %limit
  %both = and i1 %less, %right
  br i1 %both, label %fifth, label %done

fifth:
  %old.3 = load i32, ptr %pb
  %five.3 = mul i32 %old.3, 5
  %new.3 = add i32 %five.3, %x
  store i32 %new.3, ptr %pb
  br label %done

done:
  ret void
}
