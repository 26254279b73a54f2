/* SPDX-License-Identifier: Apache-2.0
 *
 * As trampolines_x86_64.S. x16 and x17 are what a linker's own stubs may use.
 */
#if defined(__aarch64__)

#define FRAME_BYTES 224

    .macro trampoline name
    .globl \name
    .hidden \name
    .type \name, %function
    .balign 8
\name:
    hint #34
    adrp x16, .Lslot_\name
    ldr x16, [x16, #:lo12:.Lslot_\name]
    br x16
.Lfirst_\name:
    hint #34
    adrp x17, .Lslot_\name
    add x17, x17, #:lo12:.Lslot_\name
    b first_use
    .size \name, .-\name
    .pushsection .data
.Lslot_\name:
    .quad .Lfirst_\name
    .popsection
    .endm

    .data
    .globl bridge_slots
    .hidden bridge_slots
    .type bridge_slots, %object
    .balign 8
bridge_slots:

    .text
    .cfi_startproc
#define BRIDGED(name) trampoline name;
#include BRIDGE_LIST
    .cfi_endproc

    .type first_use, %function
    .balign 16
first_use:
    .cfi_startproc
    stp x29, x30, [sp, #-FRAME_BYTES]!
    .cfi_def_cfa_offset FRAME_BYTES
    .cfi_offset x29, -FRAME_BYTES
    .cfi_offset x30, -FRAME_BYTES + 8
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    str x8, [sp, #80]
    stp q0, q1, [sp, #96]
    stp q2, q3, [sp, #128]
    stp q4, q5, [sp, #160]
    stp q6, q7, [sp, #192]
    mov x0, x17
    bl bridge_first_use
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldr x8, [sp, #80]
    ldp q0, q1, [sp, #96]
    ldp q2, q3, [sp, #128]
    ldp q4, q5, [sp, #160]
    ldp q6, q7, [sp, #192]
    ldp x29, x30, [sp], #FRAME_BYTES
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    br x16
    .cfi_endproc
    .size first_use, .-first_use

#endif

    .section .note.GNU-stack, "", %progbits
