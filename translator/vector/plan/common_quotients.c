/* SPDX-License-Identifier: Apache-2.0
 *
 * Quotients of places that neighbouring threads nearly always have in common.
 *
 * A loop over a whole grid (`for (i = place; i < n; i += threads)`) that is unrolled becomes one
 * for a remainder of the turns, from a quotient of the place, and one for several turns at a time.
 * Lanes with different quotients leave the first one apart, after which nothing tells that they are
 * neighbours. And the row of a matrix is often `i / columns`, the place in it what that leaves:
 * neighbours in one row access neighbours. Either quotient changes at few places of the grid, so
 * the fast version asks for it once.
 */
#include "translator/analysis/address.h"
#include "translator/analysis/shape.h"
#include "translator/module/marks.h"
#include "translator/vector/plan/plan.h"

/* With a smaller divisor, many vectors would have lanes with different quotients. */
#define LEAST_DIVISOR 64

/* That of a warp's loop along a row. Threads have the number of turns in common if rows are as long
 * as multiples of vectors, as those of most matrices. */
#define WARP_DIVISOR 32

/* As in agree.c: with larger strides a row of lanes could go around in 32 bits. */
#define MAX_STRIDE (1 << 16)

/* Whether the divisor is at least so large, as far as is known. */
static bool is_large(const struct tr_value *quotient, uint64_t least)
{
    LLVMValueRef divisor = LLVMGetOperand(quotient->llvm, 1);
    if (LLVMIsAConstantInt(divisor) == NULL)
        return true;
    uint64_t value = LLVMConstIntGetZExtValue(divisor);
    bool is_shift = quotient->opcode == LLVMLShr;
    return is_shift ? value >= 32 || UINT64_C(1) << value >= least : value >= least;
}

static bool is_of_data(LLVMValueRef load)
{
    return tr_field_of(load, TR_RECORD_BLOCK).record == TR_RECORD_NONE;
}

/* Whether few vectors have lanes with different quotients. Lengths that are loaded, as those of the
 * rows of a sparse matrix, are not expected to be even. */
static bool is_large_enough(const struct tr_value *quotient, int64_t stride)
{
    uint64_t distance = (uint64_t)(stride < 0 ? -stride : stride);
    return is_large(quotient, LEAST_DIVISOR * distance) ||
           (is_large(quotient, WARP_DIVISOR * distance) &&
            !tr_is_made_of_load(quotient->llvm, is_of_data));
}

/* A place divided by what is the same for all. */
static bool is_quotient(const struct tr_iteration *iteration, uint32_t number)
{
    const struct tr_value *value = &iteration->graph.values[number];
    if ((value->opcode != LLVMUDiv && value->opcode != LLVMLShr) || value->operands[0] == TR_NONE)
        return false;
    if (tr_is_marked(LLVMGetOperand(value->llvm, 0), TR_MARK_GROUP_PLACE))
        return false; /* its lanes need not agree */
    LLVMTypeRef type = LLVMTypeOf(value->llvm);
    struct tr_shape place = iteration->shapes.values[value->operands[0]];
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) >= 32 &&
           LLVMGetIntTypeWidth(type) <= 64 && place.kind == TR_AFFINE && place.stride != 0 &&
           place.stride < MAX_STRIDE && place.stride > -MAX_STRIDE &&
           tr_is_same_in_row(iteration, LLVMGetOperand(value->llvm, 1)) &&
           is_large_enough(value, place.stride);
}

/* Whether the segment decides who leaves a loop that threads leave at different times. */
static bool is_divergent_exit(const struct tr_iteration *iteration, uint32_t segment)
{
    const struct tr_segment *from = &iteration->graph.segments[segment];
    uint32_t loop = iteration->loops.innermost[segment];
    if (loop == TR_NONE || !iteration->is_divergent_loop[loop])
        return false;
    for (uint32_t i = 0; i < from->succ_count; i++)
        if (!tr_set_has(&iteration->loops.loops[loop].segments, from->succs[i]))
            return true;
    return false;
}

static bool passes_on(const struct tr_value *value)
{
    return value->opcode == LLVMPHI ||
           (tr_is_function_of_operands(value) && value->opcode != LLVMLoad);
}

/* Whether the number decides, by arithmetic, who leaves such a loop, or (has_places) what is
 * accessed. */
static bool decides(const struct tr_iteration *iteration, uint32_t number, bool has_places)
{
    const struct tr_graph *graph = &iteration->graph;
    struct pxr_arena scratch;
    pxr_arena_init(&scratch, 0);
    struct tr_set seen = tr_set_make(&scratch, graph->value_count);
    uint32_t *stack = pxr_arena_alloc_array(&scratch, graph->value_count, sizeof *stack);
    uint32_t depth = 0;
    bool is_decisive = false;
    if (seen.words != NULL && stack != NULL) {
        tr_set_add(&seen, number);
        stack[depth++] = number;
    }
    while (depth > 0 && !is_decisive) {
        uint32_t at = stack[--depth];
        const struct tr_value *value = &graph->values[at];
        for (uint32_t i = 0; i < value->use_count; i++) {
            uint32_t use = value->uses[i];
            const struct tr_value *user = &graph->values[use];
            is_decisive |= (has_places && tr_accessed_address(user) == at) ||
                           (user->opcode == LLVMBr && is_divergent_exit(iteration, user->segment));
            if (tr_set_has(&seen, use) || !passes_on(user))
                continue;
            tr_set_add(&seen, use);
            stack[depth++] = use;
        }
    }
    pxr_arena_fini(&scratch);
    return is_decisive;
}

bool tr_decides_access(const struct tr_iteration *iteration, uint32_t number)
{
    return decides(iteration, number, true);
}

void tr_find_common(const struct tr_iteration *iteration, uint32_t segment, uint32_t count,
                    bool has_places, struct tr_expectations *expected)
{
    uint32_t first = iteration->graph.segments[segment].first_value;
    for (uint32_t v = first; v < first + count; v++)
        if (expected->common_count < TR_MAX_COMMON && is_quotient(iteration, v) &&
            decides(iteration, v, has_places))
            expected->common[expected->common_count++] = iteration->graph.values[v].llvm;
}
