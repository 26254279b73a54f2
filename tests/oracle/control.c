/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter's loop, and control flow within a function. Threads are independent: a branch
 * concerns nobody else, and .uni only promises that it would not.
 */
#include "tests/oracle/dispatch.h"
#include "tests/oracle/machine.h"

enum pxr_status oracle_run_thread(struct oracle_thread *thread, uint64_t max_steps)
{
    uint64_t end = thread->steps + max_steps;
    enum pxr_status status = PXR_OK;

    thread->yields = false;
    while (status == PXR_OK && thread->steps < end && thread->state == ORACLE_RUNNABLE &&
           !thread->yields) {
        const struct oracle_code *code = thread->code;
        const struct oracle_step *step = &code->steps[thread->pc];
        const struct ptx_var *guard;

        thread->steps++;
        if (thread->pc == code->step_count) { /* a body that ends without ret */
            status = oracle_return(thread);
            continue;
        }
        thread->pc++;
        guard = step->inst->guard;
        if (guard &&
            (thread->regs[code->places[guard->index]].u64 & 1) == step->inst->guard_negated)
            continue;
        status = step->body(thread, step->inst);
    }
    return status;
}

/* ---- branches ---- */

enum pxr_status oracle_bra(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    thread->pc = thread->code->label_steps[inst->operands[0].label->index];
    return PXR_OK;
}

/* PTX ISA, "brx.idx": behaviour is undefined when the index is not within the list. */
enum pxr_status oracle_brx_idx(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    uint32_t index = oracle_read(thread, inst, 0, PTX_TYPE_U32).u32;
    const struct ptx_operand *list = &inst->operands[1];

    if (index >= list->label_count)
        return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION, "index %u, but only %u labels",
                           index, list->label_count);
    thread->pc = thread->code->label_steps[list->labels[index]->index];
    return PXR_OK;
}

/* ---- ends ---- */

enum pxr_status oracle_end_thread(struct oracle_thread *thread)
{
    thread->state = ORACLE_EXITED;
    thread->block->live_count--;
    oracle_barriers_after_exit(thread);
    oracle_cluster_after_exit(thread);
    return oracle_warp_after_exit(thread);
}

enum pxr_status oracle_exit(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    (void)inst;
    return oracle_end_thread(thread);
}

enum pxr_status oracle_ret(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    (void)inst;
    return oracle_return(thread);
}

enum pxr_status oracle_trap(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return oracle_fail(thread, inst, PXR_FAULT_TRAP, "the kernel ends itself");
}

/* ---- nothing to do ---- */

enum pxr_status oracle_nop(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    (void)thread;
    (void)inst;
    return PXR_OK;
}

/* membar and fence: memory is sequentially consistent here. */
enum pxr_status oracle_membar(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return oracle_nop(thread, inst);
}

/* cp.async.commit_group, wait_group and wait_all: copies are done at once. */
enum pxr_status oracle_cp_async_commit(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return oracle_nop(thread, inst);
}

enum pxr_status oracle_cp_async_wait(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return oracle_nop(thread, inst);
}

enum pxr_status oracle_cp_async_wait_all(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return oracle_nop(thread, inst);
}

/* PTX ISA, "nanosleep": suspends the thread for between zero and twice the time. */
enum pxr_status oracle_nanosleep(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    (void)inst;
    thread->yields = true;
    return PXR_OK;
}
