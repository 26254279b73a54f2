/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of another library of ours, under their own names and hidden: each jumps to what its
 * slot says. Until the slots are filled that is first_use, with the slot in %r11.
 */
#if defined(__x86_64__)

#define ARGUMENT_BYTES 192

    .macro trampoline name
    .globl \name
    .hidden \name
    .type \name, %function
    .balign 8
\name:
    jmp *.Lslot_\name(%rip)
.Lfirst_\name:
    leaq .Lslot_\name(%rip), %r11
    jmp first_use
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

/* Jumps to what bridge_first_use(slot) gives. Every register that may hold an argument outlives the
 * call; %al counts vector registers. */
    .type first_use, %function
    .balign 16
first_use:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $ARGUMENT_BYTES, %rsp
    movq %rdi, 0(%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    movq %rax, 48(%rsp)
    movaps %xmm0, 64(%rsp)
    movaps %xmm1, 80(%rsp)
    movaps %xmm2, 96(%rsp)
    movaps %xmm3, 112(%rsp)
    movaps %xmm4, 128(%rsp)
    movaps %xmm5, 144(%rsp)
    movaps %xmm6, 160(%rsp)
    movaps %xmm7, 176(%rsp)
    movq %r11, %rdi
    call bridge_first_use
    movq %rax, %r11
    movq 0(%rsp), %rdi
    movq 8(%rsp), %rsi
    movq 16(%rsp), %rdx
    movq 24(%rsp), %rcx
    movq 32(%rsp), %r8
    movq 40(%rsp), %r9
    movq 48(%rsp), %rax
    movaps 64(%rsp), %xmm0
    movaps 80(%rsp), %xmm1
    movaps 96(%rsp), %xmm2
    movaps 112(%rsp), %xmm3
    movaps 128(%rsp), %xmm4
    movaps 144(%rsp), %xmm5
    movaps 160(%rsp), %xmm6
    movaps 176(%rsp), %xmm7
    leave
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    jmp *%r11
    .cfi_endproc
    .size first_use, .-first_use

#endif

    .section .note.GNU-stack, "", %progbits
