/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses in the program of one thread: what memory they can lead to, as sums of what is the
 * same in all threads and of %tid, and which threads get to which place at all.
 */
#include "translator/barriers/effects.h"

#include <stddef.h>
#include <string.h>

#include <llvm-c/Core.h>

#include "kernel_abi/rt.h"
#include "translator/module/sregs.h"

/* Steps that one address may take: they grow exponentially where sums are added to themselves. */
#define STEPS_MAX 128
static const uint32_t dimension_max[3] = {TR_BLOCK_MAX_THREADS, TR_BLOCK_MAX_THREADS,
                                          TR_BLOCK_MAX_Z};

static bool get_constant(LLVMValueRef value, uint64_t *number)
{
    if (LLVMIsAConstantInt(value) == NULL || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
        return false;
    *number = LLVMConstIntGetZExtValue(value);
    return true;
}

/* ---- the records that step 1 reads ---- */

enum record {
    RECORD_NONE,
    RECORD_THREAD,
    RECORD_BLOCK,
    RECORD_LAUNCH,
    RECORD_PARAMS,
    RECORD_SLOTS
};

/* pointer = *base + *offset; false if the offset is not constant. */
static bool split_pointer(LLVMValueRef pointer, LLVMValueRef *base, uint64_t *offset)
{
    *base = pointer;
    *offset = 0;
    if (LLVMIsAGetElementPtrInst(pointer) == NULL)
        return true;
    *base = LLVMGetOperand(pointer, 0);
    return LLVMGetNumOperands(pointer) == 2 &&
           LLVMGetTypeKind(LLVMGetGEPSourceElementType(pointer)) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(LLVMGetGEPSourceElementType(pointer)) == 8 &&
           get_constant(LLVMGetOperand(pointer, 1), offset);
}

/* Which record (kernel_abi/rt.h) the pointer is the beginning of. */
static enum record record_at(const struct tr_effects *effects, LLVMValueRef pointer)
{
    LLVMValueRef base;
    uint64_t offset;
    if (pointer == LLVMGetParam(effects->graph->function, 0))
        return RECORD_THREAD;
    if (LLVMIsALoadInst(pointer) == NULL || !tr_is_invariant_load(pointer) ||
        !split_pointer(LLVMGetOperand(pointer, 0), &base, &offset))
        return RECORD_NONE;
    switch (record_at(effects, base)) {
    case RECORD_THREAD:
        return offset == offsetof(struct rt_thread, block) ? RECORD_BLOCK : RECORD_NONE;
    case RECORD_BLOCK:
        return offset == offsetof(struct rt_block, launch) ? RECORD_LAUNCH : RECORD_NONE;
    case RECORD_LAUNCH:
        return offset == offsetof(struct rt_launch, params)  ? RECORD_PARAMS
               : offset == offsetof(struct rt_launch, slots) ? RECORD_SLOTS
                                                             : RECORD_NONE;
    default:
        return RECORD_NONE;
    }
}

/* ---- origins ---- */

static bool is_wide(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMPointerTypeKind ||
           (LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 64);
}

/* What a load of 64 bits gives. Parameters and variables are addresses that the host knows, never
 * of shared or local memory. */
static uint8_t loaded_origins(const struct tr_effects *effects, LLVMValueRef load)
{
    LLVMValueRef base;
    uint64_t offset;
    if (record_at(effects, load) != RECORD_NONE)
        return TR_ORIGIN_CONSTANT;
    if (!tr_is_invariant_load(load))
        return TR_ORIGIN_UNKNOWN;
    bool is_split = split_pointer(LLVMGetOperand(load, 0), &base, &offset);
    switch (record_at(effects, base)) {
    case RECORD_THREAD:
        return is_split ? TR_ORIGIN_LOCAL : TR_ORIGIN_UNKNOWN; /* the stack's limits */
    case RECORD_BLOCK:
        return is_split && offset == offsetof(struct rt_block, shared) ? TR_ORIGIN_SHARED
                                                                       : TR_ORIGIN_UNKNOWN;
    case RECORD_PARAMS:
    case RECORD_SLOTS:
        return TR_ORIGIN_GLOBAL;
    default:
        return TR_ORIGIN_UNKNOWN;
    }
}

/* 0: a number, no pointer. */
static uint8_t operand_origins(const struct tr_effects *effects, LLVMValueRef value)
{
    if (value == LLVMGetParam(effects->graph->function, 0))
        return TR_ORIGIN_CONSTANT;
    uint32_t number = tr_graph_number(effects->graph, value);
    if (number != TR_NONE)
        return effects->origins[number];
    if (LLVMIsAConstantInt(value) != NULL)
        return 0;
    if (LLVMIsAGlobalVariable(value) != NULL && LLVMIsGlobalConstant(value))
        return TR_ORIGIN_CONSTANT;
    return TR_ORIGIN_UNKNOWN;
}

static uint8_t all_origins(const struct tr_effects *effects, LLVMValueRef inst, int first)
{
    uint8_t origins = 0;
    for (int i = first; i < LLVMGetNumOperands(inst); i++)
        origins |= operand_origins(effects, LLVMGetOperand(inst, (unsigned)i));
    return origins;
}

/* A product or quotient is no pointer. But the halves of one, put together again, would look like
 * numbers, and so would one whose low bits were shifted out. */
static uint8_t number_origins(const struct tr_effects *effects, LLVMValueRef inst)
{
    uint64_t number = 0;
    uint8_t origins = all_origins(effects, inst, 0);
    bool is_constant = get_constant(LLVMGetOperand(inst, 1), &number);
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMShl:
        return is_constant && number < 16 && (origins & ~TR_ORIGIN_GLOBAL) == 0 ? 0
                                                                                : TR_ORIGIN_UNKNOWN;
    case LLVMMul:
        return (is_constant && number + 65536 >= 131072) || (origins & ~TR_ORIGIN_GLOBAL) != 0
                   ? TR_ORIGIN_UNKNOWN
                   : 0;
    default:
        return origins == 0 ? 0 : TR_ORIGIN_UNKNOWN;
    }
}

static uint8_t value_origins(const struct tr_effects *effects, LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMAlloca:
        return TR_ORIGIN_LOCAL;
    case LLVMLoad:
        return loaded_origins(effects, inst);
    case LLVMSExt:
    case LLVMZExt:
        return 0;
    case LLVMSelect:
        return all_origins(effects, inst, 1);
    case LLVMPHI:
    case LLVMAdd:
    case LLVMAnd:
    case LLVMOr:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMGetElementPtr:
    case LLVMFreeze:
        return all_origins(effects, inst, 0);
    case LLVMSub:
        return operand_origins(effects, LLVMGetOperand(inst, 1)) == 0
                   ? operand_origins(effects, LLVMGetOperand(inst, 0))
                   : TR_ORIGIN_UNKNOWN;
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMXor:
        return number_origins(effects, inst);
    default:
        return TR_ORIGIN_UNKNOWN;
    }
}

/* ---- roots ---- */

/* The parameter that a load from the parameter block reads, plus 1, if no other is an address in
 * the same allocation. */
static uint8_t loaded_root(const struct tr_effects *effects, LLVMValueRef load)
{
    LLVMValueRef base;
    uint64_t offset;
    const struct ptx_func *kernel = effects->kernel;
    if (kernel == NULL || !split_pointer(LLVMGetOperand(load, 0), &base, &offset) ||
        record_at(effects, base) != RECORD_PARAMS)
        return TR_ROOT_ANY;
    for (uint32_t i = 0; i < kernel->param_count && i < TR_FACTS_PARAMS; i++)
        if (kernel->params[i]->param_offset_bytes == offset &&
            kernel->params[i]->size_bytes == sizeof(uint64_t))
            return effects->facts->params[i].is_distinct ? (uint8_t)(i + 1) : TR_ROOT_ANY;
    return TR_ROOT_ANY;
}

static uint8_t joined(uint8_t a, uint8_t b)
{
    return a == 0 || a == b ? b : b == 0 ? a : TR_ROOT_ANY;
}

static uint8_t value_root(const struct tr_effects *effects, LLVMValueRef inst)
{
    if (LLVMIsALoadInst(inst) != NULL)
        return loaded_root(effects, inst);
    uint8_t root = 0;
    for (int i = 0; i < LLVMGetNumOperands(inst); i++)
        root = joined(root, tr_root_of(effects, LLVMGetOperand(inst, (unsigned)i)));
    return root;
}

uint8_t tr_root_of(const struct tr_effects *effects, LLVMValueRef pointer)
{
    uint32_t number = tr_graph_number(effects->graph, pointer);
    return number == TR_NONE || effects->origins[number] == 0 ? 0 : effects->roots[number];
}

/* The least solutions: loops of phis add nothing by themselves. A root is only asked for where
 * pointers have GLOBAL as their only origin, so that what makes them is known. */
static void find_origins(struct tr_effects *effects)
{
    const struct tr_graph *graph = effects->graph;
    bool is_changed = true;
    while (is_changed) {
        is_changed = false;
        for (uint32_t v = 0; v < graph->value_count; v++) {
            LLVMValueRef value = graph->values[v].llvm;
            if (graph->values[v].segment == TR_NONE || !is_wide(value))
                continue;
            uint8_t origins = effects->origins[v] | value_origins(effects, value);
            uint8_t root = origins == 0 ? 0 : joined(effects->roots[v], value_root(effects, value));
            is_changed |= origins != effects->origins[v] || root != effects->roots[v];
            effects->origins[v] = origins;
            effects->roots[v] = root;
        }
    }
}

uint8_t tr_origins_of(const struct tr_effects *effects, LLVMValueRef pointer)
{
    uint8_t origins = operand_origins(effects, pointer);
    return origins == 0 ? TR_ORIGIN_UNKNOWN : origins;
}

/* ---- what is the same in all threads, always ---- */

static bool has_fixed_operands(const struct tr_effects *effects, const struct tr_value *value)
{
    for (uint32_t i = 0; i < value->operand_count; i++) {
        uint32_t operand = value->operands[i];
        if (operand != TR_NONE && !effects->is_fixed[operand])
            return false;
        LLVMValueRef constant = LLVMGetOperand(value->llvm, i);
        if (operand == TR_NONE && (!LLVMIsConstant(constant) || LLVMIsUndef(constant)))
            return false;
    }
    return true;
}

static bool is_fixed(const struct tr_effects *effects, uint32_t number)
{
    const struct tr_value *value = &effects->graph->values[number];
    if (value->segment == TR_NONE)
        return false;
    /* Executed once, and the same in all threads that do. */
    if (effects->shapes->values[number].kind == TR_UNIFORM &&
        effects->loops->innermost[value->segment] == TR_NONE)
        return true;
    switch (value->opcode) {
    case LLVMCall:
        return tr_sregs[tr_sreg_of(value->llvm)].scope >= TR_SREG_BLOCK;
    case LLVMLoad:
        return record_at(effects, value->llvm) != RECORD_NONE ||
               (tr_is_invariant_load(value->llvm) && has_fixed_operands(effects, value));
    case LLVMPHI:
    case LLVMAlloca:
    case LLVMFreeze:
    case LLVMStore:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMFence:
    case LLVMVAArg:
        return false;
    default:
        return LLVMIsATerminatorInst(value->llvm) == NULL && has_fixed_operands(effects, value);
    }
}

/* ---- sums ---- */

struct sum {
    const struct tr_effects *effects;
    struct tr_address *address;
    uint32_t steps;
};

static void add_term(struct sum *sum, uint32_t value, uint32_t factor)
{
    struct tr_address *address = sum->address;
    uint32_t at = 0;
    while (at < address->term_count && address->terms[at].value < value)
        at++;
    if (at < address->term_count && address->terms[at].value == value) {
        address->terms[at].factor += factor;
        return;
    }
    if (address->term_count == TR_ADDRESS_TERMS) {
        address->is_known = false;
        return;
    }
    memmove(&address->terms[at + 1], &address->terms[at],
            (address->term_count - at) * sizeof address->terms[0]);
    address->terms[at] = (struct tr_term){.value = value, .factor = factor};
    address->term_count++;
}

static void drop_zero_terms(struct tr_address *address)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < address->term_count; i++)
        if (address->terms[i].factor != 0)
            address->terms[kept++] = address->terms[i];
    address->term_count = kept;
}

static uint32_t width_of(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return 64;
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
}

static void add_value(struct sum *sum, LLVMValueRef value, uint32_t factor);

static void add_leaf(struct sum *sum, LLVMValueRef value, uint32_t factor)
{
    uint32_t number = tr_graph_number(sum->effects->graph, value);
    if (number == TR_NONE)
        sum->address->is_known = false;
    else
        add_term(sum, number, factor);
}

static void add_call(struct sum *sum, LLVMValueRef call, uint32_t factor)
{
    int tid = tr_sreg_axis(call, TR_QUANTITY_THREAD_INDEX);
    int ntid = tr_sreg_axis(call, TR_QUANTITY_BLOCK_SIZE);
    if (tid >= 0) {
        if (sum->effects->facts->block[tid] != 1) /* else it is 0 */
            sum->address->tid[tid] += factor;
    } else if (ntid >= 0 && sum->effects->facts->block[ntid] != 0) {
        sum->address->constant += factor * sum->effects->facts->block[ntid];
    } else {
        add_leaf(sum, call, factor);
    }
}

static void add_product(struct sum *sum, LLVMValueRef inst, uint32_t factor)
{
    uint64_t number;
    bool is_shift = LLVMGetInstructionOpcode(inst) == LLVMShl;
    LLVMValueRef right = LLVMGetOperand(inst, 1);
    int ntid = tr_sreg_axis(right, TR_QUANTITY_BLOCK_SIZE);
    if (ntid >= 0 && !is_shift && sum->effects->facts->block[ntid] != 0)
        number = sum->effects->facts->block[ntid];
    else if (!get_constant(right, &number) || (is_shift && number >= 32)) {
        add_leaf(sum, inst, factor);
        return;
    }
    uint32_t by = is_shift ? UINT32_C(1) << number : (uint32_t)number;
    add_value(sum, LLVMGetOperand(inst, 0), factor * by);
}

static void add_conversion(struct sum *sum, LLVMValueRef inst, uint32_t factor)
{
    LLVMValueRef operand = LLVMGetOperand(inst, 0);
    uint32_t from = width_of(operand);
    if ((from == 32 || from == 64) && width_of(inst) <= 64)
        add_value(sum, operand, factor);
    else
        add_leaf(sum, inst, factor);
}

static void add_element(struct sum *sum, LLVMValueRef inst, uint32_t factor)
{
    LLVMTypeRef element = LLVMGetGEPSourceElementType(inst);
    if (LLVMGetNumOperands(inst) != 2 || LLVMGetTypeKind(element) != LLVMIntegerTypeKind ||
        width_of(LLVMGetOperand(inst, 1)) != 64) {
        add_leaf(sum, inst, factor);
        return;
    }
    uint32_t bits = LLVMGetIntTypeWidth(element);
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
        add_leaf(sum, inst, factor);
        return;
    }
    add_value(sum, LLVMGetOperand(inst, 0), factor);
    add_value(sum, LLVMGetOperand(inst, 1), factor * (bits / 8));
}

static void add_instruction(struct sum *sum, LLVMValueRef inst, uint32_t factor)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMOr:
        if (!LLVMGetIsDisjoint(inst)) {
            add_leaf(sum, inst, factor);
            return;
        }
        /* fall through: without common bits it is a sum */
    case LLVMAdd:
        add_value(sum, LLVMGetOperand(inst, 0), factor);
        add_value(sum, LLVMGetOperand(inst, 1), factor);
        return;
    case LLVMSub:
        add_value(sum, LLVMGetOperand(inst, 0), factor);
        add_value(sum, LLVMGetOperand(inst, 1), -factor);
        return;
    case LLVMMul:
    case LLVMShl:
        add_product(sum, inst, factor);
        return;
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
        add_conversion(sum, inst, factor);
        return;
    case LLVMGetElementPtr:
        add_element(sum, inst, factor);
        return;
    case LLVMCall:
        add_call(sum, inst, factor);
        return;
    default:
        add_leaf(sum, inst, factor);
    }
}

/* Only for values of 32 or 64 bits: narrower ones wrap elsewhere. */
static void add_value(struct sum *sum, LLVMValueRef value, uint32_t factor)
{
    uint64_t number;
    uint32_t width = width_of(value);
    if (++sum->steps > STEPS_MAX || (width != 32 && width != 64))
        sum->address->is_known = false;
    else if (get_constant(value, &number))
        sum->address->constant += factor * (uint32_t)number;
    else if (LLVMIsAInstruction(value) != NULL)
        add_instruction(sum, value, factor);
    else
        add_leaf(sum, value, factor);
}

void tr_address_of(const struct tr_effects *effects, LLVMValueRef pointer,
                   struct tr_address *address)
{
    *address = (struct tr_address){.is_known = true};
    struct sum sum = {.effects = effects, .address = address};
    add_value(&sum, pointer, 1);
    drop_zero_terms(address);
}

/* ---- which threads get there ---- */

struct range {
    uint32_t *low;
    uint32_t *high;
};

static void limit(struct range range, LLVMIntPredicate predicate, uint32_t number)
{
    uint32_t low = 0;
    uint32_t high = UINT32_MAX;
    switch (predicate) {
    case LLVMIntEQ:
        low = high = number;
        break;
    case LLVMIntULT:
    case LLVMIntSLT:
        if (number == 0)
            return;
        high = number - 1;
        break;
    case LLVMIntULE:
    case LLVMIntSLE:
        high = number;
        break;
    case LLVMIntUGT:
    case LLVMIntSGT:
        low = number + 1;
        break;
    case LLVMIntUGE:
    case LLVMIntSGE:
        low = number;
        break;
    default:
        return;
    }
    *range.low = low > *range.low ? low : *range.low;
    *range.high = high < *range.high ? high : *range.high;
}

static LLVMIntPredicate negated(LLVMIntPredicate predicate)
{
    static const LLVMIntPredicate pairs[][2] = {
        {LLVMIntEQ, LLVMIntNE},   {LLVMIntULT, LLVMIntUGE}, {LLVMIntULE, LLVMIntUGT},
        {LLVMIntSLT, LLVMIntSGE}, {LLVMIntSLE, LLVMIntSGT},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        for (int side = 0; side < 2; side++)
            if (pairs[i][side] == predicate)
                return pairs[i][1 - side];
    return predicate;
}

/* The condition is is_true in segment. Numbers that are negative as signed ones say nothing here.
 */
static void apply_condition(struct tr_effects *effects, uint32_t segment, LLVMValueRef condition,
                            bool is_true)
{
    uint64_t number;
    if (LLVMIsAICmpInst(condition) == NULL)
        return;
    int d = tr_sreg_axis(LLVMGetOperand(condition, 0), TR_QUANTITY_THREAD_INDEX);
    if (d < 0 || !get_constant(LLVMGetOperand(condition, 1), &number) || number >= INT32_MAX)
        return;
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(condition);
    struct range range = {&effects->tid_low[segment][d], &effects->tid_high[segment][d]};
    limit(range, is_true ? predicate : negated(predicate), (uint32_t)number);
}

static void find_ranges(struct tr_effects *effects)
{
    const struct tr_graph *graph = effects->graph;
    for (uint32_t s = 0; s < graph->segment_count; s++) {
        uint32_t above = effects->dominators->idom[s];
        for (int d = 0; d < 3; d++) {
            uint32_t threads =
                effects->facts->block[d] != 0 ? effects->facts->block[d] : dimension_max[d];
            effects->tid_low[s][d] = above == TR_NONE ? 0 : effects->tid_low[above][d];
            effects->tid_high[s][d] = above == TR_NONE ? threads - 1 : effects->tid_high[above][d];
        }
        const struct tr_segment *segment = &graph->segments[s];
        if (above == TR_NONE || segment->pred_count != 1 || segment->preds[0] != above)
            continue;
        const struct tr_segment *from = &graph->segments[above];
        LLVMValueRef branch = graph->values[from->first_value + from->value_count - 1].llvm;
        if (from->is_stop || from->succ_count != 2 || from->succs[0] == from->succs[1] ||
            LLVMGetInstructionOpcode(branch) != LLVMBr)
            continue;
        apply_condition(effects, s, LLVMGetCondition(branch), from->succs[0] == s);
    }
}

/* ---- all together ---- */

bool tr_addresses_prepare(struct tr_effects *effects)
{
    struct tr_graph *graph = effects->graph;
    struct pxr_arena *arena = &graph->arena;
    effects->origins = pxr_arena_alloc_array(arena, graph->value_count, 1);
    effects->roots = pxr_arena_alloc_array(arena, graph->value_count, 1);
    effects->is_fixed = pxr_arena_alloc_array(arena, graph->value_count, sizeof *effects->is_fixed);
    effects->tid_low = pxr_arena_alloc_array(arena, graph->segment_count, sizeof *effects->tid_low);
    effects->tid_high =
        pxr_arena_alloc_array(arena, graph->segment_count, sizeof *effects->tid_high);
    if (effects->origins == NULL || effects->roots == NULL || effects->is_fixed == NULL ||
        effects->tid_low == NULL || effects->tid_high == NULL)
        return false;
    find_origins(effects);
    /* What a value is made of comes before it, except through phis. */
    for (uint32_t v = 0; v < graph->value_count; v++)
        effects->is_fixed[v] = is_fixed(effects, v);
    find_ranges(effects);
    return true;
}
