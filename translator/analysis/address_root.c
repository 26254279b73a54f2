/* SPDX-License-Identifier: Apache-2.0
 *
 * Roots: the memory that values lead to. The least solution over the graph, so that loops of phis
 * add nothing by themselves.
 */
#include "translator/analysis/address.h"

#include <stddef.h>

#include <llvm-c/Core.h>

#include "kernel_abi/rt.h"

static const struct tr_root number = {0};

static struct tr_root from(uint8_t origins)
{
    return (struct tr_root){.origins = origins};
}

/* The root of a value that is not understood: unknown, if certainty is asked for; otherwise
 * none. */
static struct tr_root doubtful(const struct tr_roots *roots)
{
    return roots->certainty == TR_CERTAIN ? from(TR_ORIGIN_UNKNOWN) : number;
}

static struct tr_root joined(struct tr_root a, struct tr_root b)
{
    struct tr_root root = {.origins = a.origins | b.origins, .param = a.param};
    if (a.param == 0)
        root.param = b.param;
    else if (b.param != 0 && a.param != b.param)
        root.param = TR_PARAM_ANY;
    return root;
}

static bool is_wide(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMPointerTypeKind ||
           (LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 64);
}

/* ---- loads ---- */

static struct tr_root root_of_param(const struct tr_field *field)
{
    bool is_one = field->has_offset && field->offset < TR_PARAM_ANY - 1;
    return (struct tr_root){.origins = TR_ORIGIN_PARAM,
                            .param = is_one ? (uint32_t)field->offset + 1 : TR_PARAM_ANY};
}

/* The root of a loaded value. Parameters and variables are addresses known to the host, never of
 * shared or local memory. */
static struct tr_root root_of_load(const struct tr_roots *roots, LLVMValueRef load)
{
    bool is_likely = roots->certainty == TR_LIKELY;
    if (tr_record_at(load, roots->first) != TR_RECORD_NONE)
        return from(TR_ORIGIN_CONSTANT);
    if (!is_likely && !tr_is_invariant_load(load))
        return from(TR_ORIGIN_UNKNOWN);
    struct tr_field field = tr_field_of(load, roots->first);
    switch (field.record) {
    case TR_RECORD_THREAD: /* the stack's limits */
        return from(field.has_offset ? TR_ORIGIN_LOCAL : TR_ORIGIN_UNKNOWN);
    case TR_RECORD_BLOCK:
        if (field.has_offset && field.offset == offsetof(struct rt_block, shared))
            return from(TR_ORIGIN_SHARED);
        if (field.has_offset && field.offset == offsetof(struct rt_block, words))
            return from(TR_ORIGIN_LOCAL);
        return from(is_likely ? TR_ORIGIN_LOCAL : TR_ORIGIN_UNKNOWN); /* the frame */
    case TR_RECORD_LAUNCH:
        return from(is_likely ? TR_ORIGIN_CONSTANT : TR_ORIGIN_UNKNOWN);
    case TR_RECORD_PARAMS:
        return root_of_param(&field);
    case TR_RECORD_SLOTS:
        return from(TR_ORIGIN_VARIABLE);
    default:
        return from(TR_ORIGIN_UNKNOWN);
    }
}

/* ---- instructions ---- */

struct tr_root tr_root_of(const struct tr_roots *roots, LLVMValueRef value)
{
    if (value == LLVMGetParam(roots->graph->function, 0))
        return from(TR_ORIGIN_CONSTANT);
    uint32_t at = tr_graph_number(roots->graph, value);
    if (at != TR_NONE && roots->graph->values[at].segment != TR_NONE)
        return roots->values[at];
    if (LLVMIsAConstantInt(value) != NULL)
        return number;
    if (LLVMIsAGlobalVariable(value) != NULL && LLVMIsGlobalConstant(value))
        return from(TR_ORIGIN_CONSTANT);
    return doubtful(roots);
}

static struct tr_root root_of_operands(const struct tr_roots *roots, LLVMValueRef inst,
                                       unsigned first)
{
    struct tr_root root = number;
    unsigned count = (unsigned)LLVMGetNumOperands(inst);
    for (unsigned i = first; i < count; i++)
        root = joined(root, tr_root_of(roots, LLVMGetOperand(inst, i)));
    return root;
}

static bool get_constant(LLVMValueRef value, uint64_t *constant)
{
    if (LLVMIsAConstantInt(value) == NULL || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
        return false;
    *constant = LLVMConstIntGetZExtValue(value);
    return true;
}

/* A product or quotient is no pointer. But the halves of one, put together again, would look like
 * numbers, and so would one whose low bits were shifted out. */
static bool is_surely_number(const struct tr_roots *roots, LLVMValueRef inst)
{
    uint64_t by = 0;
    uint8_t origins = root_of_operands(roots, inst, 0).origins;
    bool is_constant = get_constant(LLVMGetOperand(inst, 1), &by);
    bool is_global = (origins & ~TR_ORIGIN_GLOBAL) == 0;
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMShl:
        return is_constant && by < 16 && is_global;
    case LLVMMul:
        return !(is_constant && by + 65536 >= 131072) && is_global;
    default:
        return origins == 0;
    }
}

static struct tr_root root_of_gep(const struct tr_roots *roots, LLVMValueRef gep)
{
    struct tr_root base = tr_root_of(roots, LLVMGetOperand(gep, 0));
    if (roots->certainty == TR_LIKELY && base.origins != 0)
        return base;
    return joined(base, root_of_operands(roots, gep, 1));
}

static struct tr_root root_of_difference(const struct tr_roots *roots, LLVMValueRef inst)
{
    if (roots->certainty == TR_LIKELY)
        return root_of_operands(roots, inst, 0);
    bool is_moved = tr_root_of(roots, LLVMGetOperand(inst, 1)).origins == 0;
    return is_moved ? tr_root_of(roots, LLVMGetOperand(inst, 0)) : from(TR_ORIGIN_UNKNOWN);
}

static struct tr_root root_of_inst(const struct tr_roots *roots, LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMAlloca:
        return from(TR_ORIGIN_LOCAL);
    case LLVMLoad:
        return root_of_load(roots, inst);
    case LLVMSExt:
    case LLVMZExt:
        return number;
    case LLVMSelect:
        return root_of_operands(roots, inst, 1);
    case LLVMPHI:
    case LLVMAdd:
    case LLVMAnd:
    case LLVMOr:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMFreeze:
        return root_of_operands(roots, inst, 0);
    case LLVMGetElementPtr:
        return root_of_gep(roots, inst);
    case LLVMSub:
        return root_of_difference(roots, inst);
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMXor:
        return is_surely_number(roots, inst) ? number : doubtful(roots);
    case LLVMCall:
        return from(TR_ORIGIN_UNKNOWN);
    default:
        return doubtful(roots);
    }
}

/* ---- all values ---- */

/* Updates the value's root; true: it changed. Roots only ever grow. */
static bool update(struct tr_roots *roots, uint32_t value)
{
    struct tr_root *root = &roots->values[value];
    struct tr_root old = *root;
    *root = joined(old, root_of_inst(roots, roots->graph->values[value].llvm));
    return root->origins != old.origins || root->param != old.param;
}

bool tr_roots_build(struct tr_graph *graph, enum tr_record first, enum tr_certainty certainty,
                    struct tr_roots *roots)
{
    *roots = (struct tr_roots){.graph = graph, .first = first, .certainty = certainty};
    roots->values = pxr_arena_alloc_array(&graph->arena, graph->value_count, sizeof *roots->values);
    bool is_changed = roots->values != NULL;
    while (is_changed) {
        is_changed = false;
        for (uint32_t v = 0; v < graph->value_count; v++)
            if (graph->values[v].segment != TR_NONE && is_wide(graph->values[v].llvm))
                is_changed |= update(roots, v);
    }
    return roots->values != NULL;
}
