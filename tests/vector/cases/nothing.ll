; SPDX-License-Identifier: Apache-2.0
; A turn that does nothing.

define void @turn(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  ret void
}
