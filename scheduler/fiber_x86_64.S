/* SPDX-License-Identifier: Apache-2.0
 *
 * Context switch for x86-64, System V ABI: the callee-saved registers and the stack pointer. The
 * floating-point control state is the same in all fibers of a kernel and is not saved (float_mode.h).
 * A jump instead of `ret`: that is always predicted to go back to where the swap was called.
 */
#if defined(__x86_64__)

    .text

/* void sch_context_swap(void **save_sp, void *load_sp) */
    .globl sch_context_swap
    .hidden sch_context_swap
    .type sch_context_swap, @function
    .balign 16
sch_context_swap:
    .cfi_startproc
    endbr64
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rcx
    notrack jmpq *%rcx
    .cfi_endproc
    .size sch_context_swap, .-sch_context_swap

/* void sch_context_load(void *load_sp): the second half of a swap; the caller's context is lost */
    .globl sch_context_load
    .hidden sch_context_load
    .type sch_context_load, @function
    .balign 16
sch_context_load:
    .cfi_startproc
    endbr64
    movq %rdi, %rsp
    cld
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rcx
    notrack jmpq *%rcx
    .cfi_endproc
    .size sch_context_load, .-sch_context_load

/* First instructions of a context: r13(r12), and the second half of a swap with what that returns.
 * The end of every backtrace. Here a `ret` is in step with the calls: that of the swap which came
 * to the context was the last one without its own. */
    .globl sch_context_start
    .hidden sch_context_start
    .type sch_context_start, @function
    .balign 16
sch_context_start:
    .cfi_startproc
    .cfi_undefined %rip
    endbr64
    xorl %ebp, %ebp
    movq %r12, %rdi
    callq *%r13
    movq %rax, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .cfi_endproc
    .size sch_context_start, .-sch_context_start

/* void sch_context_restart(void *stack_top, void (*fn)(void *), void *arg) */
    .globl sch_context_restart
    .hidden sch_context_restart
    .type sch_context_restart, @function
    .balign 16
sch_context_restart:
    .cfi_startproc
    .cfi_undefined %rip
    endbr64
    movq %rdi, %rsp
    xorl %ebp, %ebp
    movq %rdx, %rdi
    callq *%rsi
    ud2
    .cfi_endproc
    .size sch_context_restart, .-sch_context_restart

#endif

    .section .note.GNU-stack, "", %progbits
