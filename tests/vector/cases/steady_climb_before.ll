; SPDX-License-Identifier: Apache-2.0
; Indices without a sign that go on in a loop which asks for their end before each turn.
; run: nx=1,7,16,33,96 ny=1,3 n=0,1,3,10,50,96,97,300
; arrays: a=8+4096 b=4 c=4

define void @iteration(ptr %a, ptr %b, ptr %c, i32 %n, i32 %nx, i32 %ny, i32 %x, i32 %y) {
  %row = mul i32 %y, %nx
  %t = add i32 %row, %x
  %own = zext i32 %t to i64
  %step = mul i32 %nx, %ny
  br label %before

before:
  %j = phi i32 [ %t, %0 ], [ %j.next, %go.on ]
  %u = phi i32 [ 1, %0 ], [ %u.next, %go.on ]
  %is.in = icmp ult i32 %j, %n
  br i1 %is.in, label %go.on, label %end

go.on:
  %j2 = shl i32 %j, 1
  %j21 = add i32 %j2, 1
  %j64 = zext i32 %j21 to i64
  %q = getelementptr i32, ptr %a, i64 %j64
  %w = load i32, ptr %q
  %u3 = mul i32 %u, 5
  %u.next = xor i32 %u3, %w
  %j.next = add i32 %j, %step
  br label %before

end:
  %pc = getelementptr i32, ptr %c, i64 %own
  %old = load i32, ptr %pc
  %three = mul i32 %old, 3
  %new = add i32 %three, %u
  store i32 %new, ptr %pc
  ret void
}
