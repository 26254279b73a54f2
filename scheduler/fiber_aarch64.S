/* SPDX-License-Identifier: Apache-2.0
 *
 * Context switch for AArch64, AAPCS64: x19-x30, d8-d15 and the stack pointer. The floating-point
 * control state is the same in every fiber of a worker and is not saved.
 */
#if defined(__aarch64__)

#define FRAME_BYTES 160

    .text

.macro load_frame
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #FRAME_BYTES
    ret
.endm

/* void sch_context_swap(void **save_sp, void *load_sp) */
    .globl sch_context_swap
    .hidden sch_context_swap
    .type sch_context_swap, %function
    .balign 16
sch_context_swap:
    .cfi_startproc
    hint #34
    sub sp, sp, #FRAME_BYTES
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    load_frame
    .cfi_endproc
    .size sch_context_swap, .-sch_context_swap

/* void sch_context_load(void *load_sp): the second half of a swap; the caller's context is lost */
    .globl sch_context_load
    .hidden sch_context_load
    .type sch_context_load, %function
    .balign 16
sch_context_load:
    .cfi_startproc
    hint #34
    mov sp, x0
    load_frame
    .cfi_endproc
    .size sch_context_load, .-sch_context_load

/* First instructions of a context: x20(x19), and the second half of a swap with what that returns.
 * The end of every backtrace. */
    .globl sch_context_start
    .hidden sch_context_start
    .type sch_context_start, %function
    .balign 16
sch_context_start:
    .cfi_startproc
    .cfi_undefined x30
    hint #36
    mov x29, #0
    mov x0, x19
    blr x20
    mov sp, x0
    load_frame
    .cfi_endproc
    .size sch_context_start, .-sch_context_start

/* void sch_context_restart(void *stack_top, void (*fn)(void *), void *arg) */
    .globl sch_context_restart
    .hidden sch_context_restart
    .type sch_context_restart, %function
    .balign 16
sch_context_restart:
    .cfi_startproc
    .cfi_undefined x30
    hint #34
    mov sp, x0
    mov x29, #0
    mov x0, x2
    blr x1
    brk #1
    .cfi_endproc
    .size sch_context_restart, .-sch_context_restart

#endif

    .section .note.GNU-stack, "", %progbits
