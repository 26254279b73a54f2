/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops that all threads leave together, though their counters differ:
 *
 *     for (i = threadIdx.x; i < 512; i += 128)
 *
 * runs four times for each of 128 threads. It is what blocks load their tiles with. The analyses
 * would take such a loop for one that threads leave one by one, and LLVM, which knows the range of
 * threadIdx.x, would not count its iterations. So it gets a counter that begins at 0 for everybody.
 */
#include "translator/module/module_steps.h"
#include "translator/module/trips.h"
#include "translator/module/walk.h"

/* How many operations to look through for the range of a number. */
#define DEPTH_MAX 8

/* Signed; none of the numbers needs more than 62 bits. */
struct range {
    int64_t least;
    int64_t most;
};

static unsigned width_of(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
}

/* Whether the range is one of signed numbers of so many bits. */
static bool fits(struct range range, unsigned width)
{
    int64_t end = INT64_C(1) << ((width < 62 ? width : 62) - 1);
    return range.least >= -end && range.most < end && range.least <= range.most;
}

static bool is_constant(LLVMValueRef value, int64_t *constant)
{
    if (LLVMIsAConstantInt(value) == NULL || width_of(value) > 64)
        return false;
    *constant = LLVMConstIntGetSExtValue(value);
    return true;
}

/* What metadata says of the value: one half-open range. */
static bool range_of_metadata(LLVMValueRef value, struct range *range)
{
    static const char name[] = "range";
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(value));
    unsigned kind = LLVMGetMDKindIDInContext(llvm, name, sizeof name - 1);
    LLVMValueRef node = LLVMGetMetadata(value, kind);
    if (node == NULL || LLVMGetMDNodeNumOperands(node) != 2)
        return false;
    LLVMValueRef ends[2];
    LLVMGetMDNodeOperands(node, ends);
    int64_t end;
    if (!is_constant(ends[0], &range->least) || !is_constant(ends[1], &end))
        return false;
    range->most = end - 1;
    return true;
}

static bool range_of(LLVMValueRef value, unsigned depth, struct range *range);

static bool range_of_sum(LLVMValueRef inst, unsigned depth, bool is_difference, struct range *range)
{
    struct range other;
    if (!range_of(LLVMGetOperand(inst, 0), depth, range) ||
        !range_of(LLVMGetOperand(inst, 1), depth, &other))
        return false;
    range->least += is_difference ? -other.most : other.least;
    range->most += is_difference ? -other.least : other.most;
    return true;
}

/* Of an operation that keeps the order of numbers that are not negative; by: its second operand. */
static bool range_of_scaled(LLVMValueRef inst, unsigned depth, struct range *range)
{
    int64_t by;
    if (!is_constant(LLVMGetOperand(inst, 1), &by) || by < 0 || by >= INT64_C(1) << 31 ||
        !range_of(LLVMGetOperand(inst, 0), depth, range) || range->least < 0 ||
        range->most >= INT64_C(1) << 31)
        return false;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    if (opcode == LLVMMul) {
        *range = (struct range){range->least * by, range->most * by};
        return true;
    }
    if (by >= 31)
        return false;
    if (opcode == LLVMShl)
        *range = (struct range){range->least << by, range->most << by};
    else
        *range = (struct range){range->least >> by, range->most >> by};
    return true;
}

static bool range_of_part(LLVMValueRef inst, unsigned depth, struct range *range)
{
    int64_t mask;
    if (!is_constant(LLVMGetOperand(inst, 1), &mask) || mask < 0)
        return false;
    struct range whole;
    bool is_less =
        range_of(LLVMGetOperand(inst, 0), depth, &whole) && whole.least >= 0 && whole.most < mask;
    *range = (struct range){0, is_less ? whole.most : mask};
    return true;
}

static bool range_of_operation(LLVMValueRef inst, unsigned depth, struct range *range)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMAdd:
        return range_of_sum(inst, depth, false, range);
    case LLVMSub:
        return range_of_sum(inst, depth, true, range);
    case LLVMOr:
        return LLVMGetIsDisjoint(inst) && range_of_sum(inst, depth, false, range);
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
        return range_of_scaled(inst, depth, range);
    case LLVMAnd:
        return range_of_part(inst, depth, range);
    case LLVMZExt:
        return range_of(LLVMGetOperand(inst, 0), depth, range) && range->least >= 0;
    case LLVMSExt:
    case LLVMTrunc:
        return range_of(LLVMGetOperand(inst, 0), depth, range);
    default:
        return false;
    }
}

/* Finds where a number lies, whichever thread's it is. */
static bool range_of(LLVMValueRef value, unsigned depth, struct range *range)
{
    unsigned width = width_of(value);
    if (width < 8 || width > 64 || depth == 0)
        return false;
    int64_t constant;
    if (is_constant(value, &constant))
        *range = (struct range){constant, constant};
    else if (LLVMIsAInstruction(value) == NULL ||
             (!range_of_metadata(value, range) && !range_of_operation(value, depth - 1, range)))
        return false;
    return fits(*range, width);
}

/* How often the body runs for every thread; 0: nobody knows, or not equally often. Who starts in
 * between runs as often as who starts at the ends, unless the counter has to meet the limit. */
static uint64_t trips_of_all(const struct tr_counter *counter)
{
    struct range start;
    if (LLVMIsAConstantInt(counter->start) != NULL || counter->relation == LLVMIntEQ ||
        counter->relation == LLVMIntNE || !range_of(counter->start, DEPTH_MAX, &start))
        return 0;
    uint64_t trips = tr_trips_from(counter, start.least);
    return trips == tr_trips_from(counter, start.most) && trips <= INT32_MAX ? trips : 0;
}

static void count_from_zero(LLVMBuilderRef b, const struct tr_counter *counter, uint64_t trips)
{
    LLVMBasicBlockRef header = LLVMGetInstructionParent(counter->phi);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(counter->phi)));
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(header));
    LLVMValueRef count = LLVMBuildPhi(b, i32, "count");
    LLVMPositionBuilderBefore(b, counter->branch);
    LLVMValueRef one = LLVMConstInt(i32, 1, false);
    LLVMValueRef next = LLVMBuildNUWAdd(b, count, one, "");
    for (unsigned i = 0; i < 2; i++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(counter->phi, i);
        bool is_latch = from == LLVMGetInstructionParent(counter->branch);
        LLVMValueRef value = is_latch ? next : LLVMConstInt(i32, 0, false);
        LLVMAddIncoming(count, &value, &from, 1);
    }
    LLVMValueRef test = LLVMBuildICmp(b, counter->goes_on ? LLVMIntULT : LLVMIntUGE, next,
                                      LLVMConstInt(i32, trips, false), "");
    LLVMSetCondition(counter->branch, test);
}

void tr_count_even_trips(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f)) {
        TR_FOR_EACH_INSTRUCTION(inst, f) {
            struct tr_counter counter;
            uint64_t trips = tr_find_counter(inst, &counter) ? trips_of_all(&counter) : 0;
            if (trips != 0)
                count_from_zero(b, &counter, trips);
        }
    }
    LLVMDisposeBuilder(b);
}
