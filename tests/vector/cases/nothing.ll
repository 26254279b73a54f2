; SPDX-License-Identifier: Apache-2.0
; An iteration that does nothing.

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  ret void
}
