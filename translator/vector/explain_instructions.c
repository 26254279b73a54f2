/* SPDX-License-Identifier: Apache-2.0
 *
 * What --explain says of the instructions of a nest: accesses to memory by the form that is planned
 * for them, and what is done lane by lane. What the program has not asked for is left out.
 */
#include <stddef.h>

#include "kernel_abi/rt.h"
#include "translator/module/keep_lines.h"
#include "translator/module/marks.h"
#include "translator/vector/control.h"
#include "translator/vector/emit/form.h"
#include "translator/vector/explain.h"
#include "translator/vector/memory/load_store.h"

void tr_explain_add(const struct tr_about *about, enum tr_said said, const char *name,
                    LLVMValueRef inst)
{
    tr_list_add(&about->paragraph->lists[said], name, tr_line_near(inst));
}

/* ---- names of accesses ---- */

static const char *name_of_wide(const struct tr_memory *memory)
{
    if (memory->stride < 0)
        return "neighbouring elements, backwards";
    return tr_plan_is_nontemporal(memory)
               ? "neighbouring elements, past the caches if there are many"
               : "neighbouring elements";
}

static void name_strided(const struct tr_memory *memory, char *name, size_t size)
{
    long long step = (long long)memory->stride / memory->bytes;
    snprintf(name, size, "elements %lld apart%s", step < 0 ? -step : step,
             step < 0 ? ", backwards" : "");
}

static void name_access(const struct tr_access_plan *plan, char *name, size_t size)
{
    const struct tr_memory *memory = &plan->memory;
    const char *general = memory->stored == NULL ? "gather" : "scatter";
    switch (plan->forms[TR_LANES_ALL]) {
    case TR_ACCESS_UNIFORM:
        snprintf(name, size, "one element for all threads");
        break;
    case TR_ACCESS_WIDE:
        if (memory->kind == TR_MEMORY_STRIDED)
            name_strided(memory, name, size);
        else
            snprintf(name, size, "%s", name_of_wide(memory));
        break;
    case TR_ACCESS_CHECKED:
        snprintf(name, size, "neighbouring elements%s",
                 plan->checked->clamp_count > 0 ? " except at borders"
                 : plan->checked->is_exact      ? ""
                                                : " unless a 32-bit index wraps");
        break;
    case TR_ACCESS_TUNED:
        snprintf(name, size, "%s, %s", general, plan->steps[TR_LANES_ALL]->name);
        break;
    default:
        snprintf(name, size, "%s", general);
        break;
    }
}

static bool is_near(const struct tr_access_plan *plan)
{
    enum tr_access_form form = plan->forms[TR_LANES_ALL];
    return form == TR_ACCESS_UNIFORM || form == TR_ACCESS_CHECKED ||
           (form == TR_ACCESS_WIDE && plan->memory.kind != TR_MEMORY_STRIDED);
}

/* Memory that no instruction of the program knows of. */
enum hidden {
    HIDDEN_NOT,
    HIDDEN_FRAME,   /* where threads' values are kept across synchronisation points, but their local
                       arrays as well */
    HIDDEN_RUN_TIME /* what the run time knows of threads, and variables for where threads are */
};

static bool is_field_of_block(LLVMValueRef value, size_t offset)
{
    return tr_is_field(value, TR_RECORD_BLOCK, TR_RECORD_BLOCK, offset);
}

static enum hidden hidden_memory(LLVMValueRef address)
{
    while (LLVMIsAGetElementPtrInst(address) != NULL)
        address = LLVMGetOperand(address, 0);
    if (LLVMIsAAllocaInst(address) != NULL ||
        is_field_of_block(address, offsetof(struct rt_block, threads)))
        return HIDDEN_RUN_TIME;
    return is_field_of_block(address, offsetof(struct rt_block, frame)) ? HIDDEN_FRAME : HIDDEN_NOT;
}

/* The line of such an access may be that of the synchronisation point. Where there are local arrays
 * too it is known by its elements, which lie one behind the other, as those of local arrays only if
 * they are marked. */
static bool is_hidden(const struct tr_about *about, const struct tr_memory *memory)
{
    enum hidden hidden = hidden_memory(memory->address);
    bool is_element =
        memory->kind == TR_MEMORY_CONTIGUOUS && !tr_is_marked(memory->inst, TR_MARK_IN_ARRAY);
    return hidden == HIDDEN_RUN_TIME ||
           (hidden == HIDDEN_FRAME &&
            (!about->has_local_arrays || is_element || LLVMGetDebugLocLine(memory->inst) == 0));
}

/* A read-modify-write by which threads find out where the others are: programs have none in memory
 * of a thread's own. */
static bool is_bookkeeping(LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    bool is_access = opcode == LLVMLoad || opcode == LLVMStore || opcode == LLVMAtomicRMW ||
                     opcode == LLVMAtomicCmpXchg;
    return is_access && hidden_memory(LLVMGetOperand(inst, opcode == LLVMStore)) != HIDDEN_NOT;
}

static void add_access(struct tr_about *about, uint32_t value)
{
    char name[sizeof about->paragraph->lists->groups->name];
    const struct tr_access_plan *plan = about->iteration->accesses[value];
    LLVMValueRef inst = plan->memory.inst;
    bool is_load = plan->memory.stored == NULL;
    if (is_hidden(about, &plan->memory)) {
        about->paragraph->kept_loads += is_load;
        about->paragraph->kept_stores += !is_load;
        return;
    }
    about->has_accesses = true;
    about->has_far |= !is_near(plan);
    if (plan->forms[TR_LANES_ALL] == TR_ACCESS_SERIAL) {
        tr_explain_add(about, TR_SAID_SERIAL, is_load ? "volatile load" : "volatile store", inst);
        return;
    }
    name_access(plan, name, sizeof name);
    tr_explain_add(about, is_load ? TR_SAID_LOADS : TR_SAID_STORES, name, inst);
}

static const char *name_of_serial(LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMCall:
        return "call";
    case LLVMLoad:
    case LLVMStore:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return "atomic operation";
    default:
        return "instruction that vectors do not have";
    }
}

/* *sequence: the value alone, or all of an atomic operation in memory of the block. */
static void add_instruction(struct tr_about *about, uint32_t value)
{
    const struct tr_iteration *iteration = about->iteration;
    LLVMValueRef inst = iteration->graph.values[value].llvm;
    struct tr_sequence sequence = {.count = 1, .values = {value}};
    if (tr_plan_ends_exchange(iteration, value))
        return; /* spoken of with its load */
    bool is_exchange = tr_plan_find_exchange(iteration, value, &sequence);
    if (!is_exchange && tr_has_vector_form(iteration, value)) {
        if (LLVMIsALoadInst(inst) != NULL || LLVMIsAStoreInst(inst) != NULL)
            add_access(about, value);
        return;
    }
    if (is_bookkeeping(inst))
        return;
    about->has_accesses = true;
    about->has_far = true;
    if (tr_memory_can_combine(iteration, &sequence))
        tr_explain_add(about, TR_SAID_COMBINED, "atomic operation", inst);
    else
        tr_explain_add(about, TR_SAID_SERIAL,
                       is_exchange ? "atomic operation" : name_of_serial(inst), inst);
}

static void add_segment(struct tr_about *about, uint32_t number)
{
    const struct tr_iteration *iteration = about->iteration;
    const struct tr_segment *segment = &iteration->graph.segments[number];
    uint32_t last = segment->first_value + segment->value_count - 1;
    for (uint32_t v = segment->first_value + tr_control_phi_count(iteration, number); v < last; v++)
        add_instruction(about, v);
}

void tr_explain_instructions(struct tr_about *about)
{
    for (uint32_t s = 0; s < about->iteration->graph.segment_count; s++)
        if (!about->iteration->is_lost[s])
            add_segment(about, s);
}
