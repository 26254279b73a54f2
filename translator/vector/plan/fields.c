/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds accesses to do together. Loads move up to the first of them if nothing in between writes;
 * stores move down to the last if nothing else in between touches memory. Each access of such a
 * group finds the same group.
 */
#include "translator/vector/plan/access.h"

#define MAX_CANDIDATES 64

/* Accesses of one kind and size whose addresses differ by constants, in order. */
struct candidates {
    uint32_t count;
    uint32_t values[MAX_CANDIDATES];
    int64_t offsets[MAX_CANDIDATES]; /* in bytes */
};

/* Whether `value` is an access like `memory`, whose address is `sum`; *offset: how far from it. */
static bool is_like(const struct tr_iteration *iteration, const struct tr_memory *memory,
                    const struct tr_sum *sum, uint32_t value, int64_t *offset)
{
    const struct tr_value *inst = &iteration->graph.values[value];
    if (inst->opcode != iteration->graph.values[memory->value].opcode ||
        LLVMGetVolatile(inst->llvm) || LLVMGetOrdering(inst->llvm) != LLVMAtomicOrderingNotAtomic ||
        iteration->depends_on_row[value] != iteration->depends_on_row[memory->value])
        return false;
    struct tr_memory other = tr_plan_describe(iteration, value);
    if (!other.is_word || other.bytes != memory->bytes || other.stride != memory->stride)
        return false;
    struct tr_sum others = tr_plan_sum(iteration, other.address);
    return tr_sum_distance(sum, &others, offset) && *offset % (int64_t)memory->bytes == 0;
}

/* Whether an access like `memory` cannot be moved across the instruction. */
static bool is_wall(const struct tr_iteration *iteration, const struct tr_memory *memory,
                    uint32_t value)
{
    if (tr_plan_may_write(iteration, value))
        return true;
    return memory->stored != NULL && tr_plan_may_read(iteration, value);
}

static struct candidates find_candidates(const struct tr_iteration *iteration,
                                         const struct tr_memory *memory)
{
    struct candidates found = {0};
    struct tr_sum sum = tr_plan_sum(iteration, memory->address);
    const struct tr_segment *segment =
        &iteration->graph.segments[iteration->graph.values[memory->value].segment];
    uint32_t end = segment->first_value + segment->value_count;
    uint32_t value = memory->value;
    int64_t offset = 0;
    while (value > segment->first_value && (is_like(iteration, memory, &sum, value - 1, &offset) ||
                                            !is_wall(iteration, memory, value - 1)))
        value--;
    for (; value < end && found.count < MAX_CANDIDATES; value++) {
        if (is_like(iteration, memory, &sum, value, &offset)) {
            found.values[found.count] = value;
            found.offsets[found.count++] = offset;
        } else if (is_wall(iteration, memory, value)) {
            break;
        }
    }
    return found;
}

/* The lowest offset of the stride that contains `memory`, which is at offset 0. Strides follow each
 * other from the lowest candidate on; each begins at the next candidate. */
static int64_t lowest_of_stride(const struct candidates *candidates, int64_t stride)
{
    int64_t low = INT64_MIN;
    for (;;) {
        int64_t next = INT64_MAX;
        for (uint32_t i = 0; i < candidates->count; i++)
            if ((low == INT64_MIN || candidates->offsets[i] >= low + stride) &&
                candidates->offsets[i] < next)
                next = candidates->offsets[i];
        low = next;
        if (low > 0 || low + stride > 0)
            return low;
    }
}

/* Whether two stores write the same bytes, in one lane or in two: they stay in order. */
static bool do_meet(const struct candidates *candidates, int64_t stride)
{
    for (uint32_t i = 0; i < candidates->count; i++)
        for (uint32_t k = 0; k < i; k++)
            if ((candidates->offsets[i] - candidates->offsets[k]) % stride == 0)
                return true;
    return false;
}

struct tr_fields tr_plan_only(const struct tr_memory *memory)
{
    return (struct tr_fields){
        .count = 1, .values = {memory->value}, .place = memory->value, .align = memory->align};
}

static void add_field(struct tr_fields *fields, const struct tr_iteration *iteration,
                      uint32_t value, uint32_t field)
{
    fields->values[fields->count] = value;
    fields->fields[fields->count++] = field;
    if (field > fields->last_field)
        fields->last_field = field;
    if (field == 0)
        fields->align = LLVMGetAlignment(iteration->graph.values[value].llvm);
}

struct tr_fields tr_plan_fields(const struct tr_iteration *iteration,
                                const struct tr_memory *memory)
{
    if (memory->kind != TR_MEMORY_STRIDED || LLVMGetVolatile(memory->inst))
        return tr_plan_only(memory);
    struct candidates candidates = find_candidates(iteration, memory);
    int64_t stride = memory->stride < 0 ? -memory->stride : memory->stride;
    if (candidates.count == MAX_CANDIDATES ||
        (memory->stored != NULL && do_meet(&candidates, stride)))
        return tr_plan_only(memory);
    int64_t low = lowest_of_stride(&candidates, stride);
    struct tr_fields fields = {0};
    for (uint32_t i = 0; i < candidates.count; i++) {
        int64_t offset = candidates.offsets[i] - low;
        if (offset < 0 || offset >= stride)
            continue;
        if (fields.count == TR_MAX_FIELDS)
            return tr_plan_only(memory);
        add_field(&fields, iteration, candidates.values[i], (uint32_t)(offset / memory->bytes));
    }
    if (fields.count == 0) /* not even itself: it is atomic */
        return tr_plan_only(memory);
    uint32_t place = memory->stored == NULL ? 0 : fields.count - 1;
    fields.place = fields.values[place];
    fields.place_field = fields.fields[place];
    return fields;
}
