/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses of a lane to neighbouring words, where lanes are far apart or anywhere: a row of a
 * matrix for each thread, in a loop that has been unrolled; structures that are looked up. Each
 * lane's words become one access of 16 bytes and are transposed in registers: a fourth of the
 * accesses that a gather or scatter for each word makes.
 *
 * Loads move up to the first of them and stores down to the last. Iterations are independent, so
 * that only accesses of the same thread can be in the way; not those to other words of the same
 * row, and not loads from one address by all lanes, which none of several lanes can be writing to.
 */
#include "translator/vector/emit/form.h"
#include "translator/vector/tuning/tuning.h"

#define BLOCK_BYTES 16
#define MAX_WORDS   4

#define GROUP_MAX   64

/* Accesses of one segment, alike from lane to lane, that can be done at one place: loads at the
 * first of them, stores at the last. */
struct group {
    uint32_t count;
    uint32_t values[GROUP_MAX]; /* in order of the segment */
    int64_t offsets[GROUP_MAX]; /* in bytes, from the access asked about */
    uint32_t beside_count;      /* accesses of the other kind, in between, to the same rows */
    int64_t beside[GROUP_MAX];
};

/* One access for each lane. */
struct block {
    const struct tr_memory *memory;
    uint32_t words;
    int64_t low; /* bytes from `memory` to the first word */
    struct tr_fields fields;
};

enum role { ROLE_NONE, ROLE_WALL, ROLE_MEMBER, ROLE_BESIDE };

/* ---- what can be done at one place ---- */

/* The role of an instruction for the accesses like `memory`, whose address is `sum`. */
static enum role role_of(const struct tr_iteration *iteration, const struct tr_memory *memory,
                         const struct tr_sum *sum, uint32_t value, int64_t *offset)
{
    const struct tr_value *inst = &iteration->graph.values[value];
    bool is_store = memory->stored != NULL;
    if ((inst->opcode == LLVMLoad || inst->opcode == LLVMStore) && tr_is_plain_access(inst->llvm)) {
        struct tr_memory other = tr_plan_describe(iteration, value);
        struct tr_sum others = tr_plan_sum(iteration, other.address);
        bool is_like = other.has_stride == memory->has_stride && other.stride == memory->stride &&
                       other.type == memory->type && tr_sum_distance(sum, &others, offset) &&
                       *offset % (int64_t)memory->bytes == 0;
        if (is_like && (other.stored != NULL) != is_store)
            return ROLE_BESIDE;
        if (is_like && iteration->depends_on_row[value] == iteration->depends_on_row[memory->value])
            return ROLE_MEMBER;
        if (other.stored == NULL && other.kind == TR_MEMORY_SAME)
            return ROLE_NONE;
    }
    bool is_wall =
        tr_plan_may_write(iteration, value) || (is_store && tr_plan_may_read(iteration, value));
    return is_wall ? ROLE_WALL : ROLE_NONE;
}

static bool has_offset(const int64_t *offsets, uint32_t count, int64_t offset)
{
    for (uint32_t i = 0; i < count; i++)
        if (offsets[i] == offset)
            return true;
    return false;
}

static bool is_in(const struct group *group, uint32_t value)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (group->values[i] == value)
            return true;
    return false;
}

/* Whether the access cannot be in a group with those before it. */
static bool is_in_the_way(const struct group *group, enum role role, int64_t offset, bool is_store)
{
    if (role == ROLE_WALL || group->count == GROUP_MAX || group->beside_count == GROUP_MAX)
        return true;
    if (role == ROLE_MEMBER)
        return has_offset(group->offsets, group->count, offset) ||
               (!is_store && has_offset(group->beside, group->beside_count, offset));
    return role == ROLE_BESIDE && is_store && has_offset(group->offsets, group->count, offset);
}

/* The segment is split into groups from its beginning on, so that all of a group find the same. */
static struct group group_of(const struct tr_iteration *iteration, const struct tr_memory *memory)
{
    struct group group = {0};
    struct tr_sum sum = tr_plan_sum(iteration, memory->address);
    const struct tr_segment *segment =
        &iteration->graph.segments[iteration->graph.values[memory->value].segment];
    uint32_t end = segment->first_value + segment->value_count;
    for (uint32_t value = segment->first_value; value < end; value++) {
        int64_t offset = 0;
        enum role role = role_of(iteration, memory, &sum, value, &offset);
        if (is_in_the_way(&group, role, offset, memory->stored != NULL)) {
            if (is_in(&group, memory->value))
                return group;
            group.count = group.beside_count = 0;
        }
        if (role == ROLE_MEMBER) {
            group.values[group.count] = value;
            group.offsets[group.count++] = offset;
        } else if (role == ROLE_BESIDE) {
            group.beside[group.beside_count++] = offset;
        }
    }
    return group;
}

/* ---- blocks of a group ---- */

/* Whether words that nobody asked for can be loaded with the others: an aligned block is never on
 * two pages. */
static bool can_be_filled_up(const struct tr_iteration *iteration, const struct block *block)
{
    uint32_t lowest = 0;
    while (lowest < block->fields.count && block->fields.fields[lowest] != 0)
        lowest++;
    return block->memory->stored == NULL && block->fields.count > 1 &&
           LLVMGetAlignment(iteration->graph.values[block->fields.values[lowest]].llvm) >=
               BLOCK_BYTES;
}

/* The words from `low` on, if they can be accessed together. */
static bool fill_block(const struct tr_iteration *iteration, const struct group *group,
                       struct block *block)
{
    const struct tr_memory *memory = block->memory;
    block->fields = (struct tr_fields){.align = memory->bytes};
    for (uint32_t i = 0; i < group->count; i++) {
        int64_t word = (group->offsets[i] - block->low) / (int64_t)memory->bytes;
        if (group->offsets[i] < block->low || word >= block->words)
            continue;
        uint32_t align = LLVMGetAlignment(iteration->graph.values[group->values[i]].llvm);
        block->fields.align = align < block->fields.align ? align : block->fields.align;
        block->fields.values[block->fields.count] = group->values[i];
        block->fields.fields[block->fields.count++] = (uint32_t)word;
    }
    if (block->fields.count < block->words && !can_be_filled_up(iteration, block))
        return false;
    uint32_t place = memory->stored == NULL ? 0 : block->fields.count - 1;
    block->fields.place = block->fields.values[place];
    return true;
}

/* Blocks follow each other from the lowest word on; single words are in none. */
static bool find_block(const struct tr_iteration *iteration, const struct group *group,
                       struct block *block)
{
    int64_t bytes = block->memory->bytes;
    int64_t from = INT64_MIN;
    for (;;) {
        block->low = INT64_MAX;
        for (uint32_t i = 0; i < group->count; i++)
            if (group->offsets[i] >= from && group->offsets[i] < block->low)
                block->low = group->offsets[i];
        if (block->low > 0)
            return false;
        bool is_whole = fill_block(iteration, group, block);
        from = block->low + (is_whole ? BLOCK_BYTES : bytes);
        if (is_whole && from > 0)
            return true;
    }
}

static bool can_be_in_block(const struct tr_access_question *question)
{
    const struct tr_memory *memory = question->memory;
    LLVMTypeKind kind = LLVMGetTypeKind(memory->type);
    return memory->kind == TR_MEMORY_GENERAL && memory->is_word &&
           (memory->bytes == 4 || memory->bytes == 8) && kind != LLVMVectorTypeKind &&
           kind != LLVMPointerTypeKind && tr_is_plain_access(memory->inst) &&
           (!memory->has_stride || memory->stride >= BLOCK_BYTES ||
            memory->stride <= -BLOCK_BYTES) &&
           question->lanes == TR_LANES_ALL && question->width >= MAX_WORDS;
}

/* ---- transposing ---- */

/* Picks the same elements of all groups of `words`: from a or, from `words` on, from b. */
static LLVMValueRef pick(struct tr_widen *widen, LLVMValueRef a, LLVMValueRef b, uint32_t words,
                         const uint8_t *of_group)
{
    uint32_t elements[TR_MAX_WIDTH];
    for (uint32_t i = 0; i < widen->width; i++) {
        uint32_t element = of_group[i % words];
        elements[i] = i / words * words + element % words + element / words * widen->width;
    }
    return tr_widen_shuffle(widen, a, b, elements, widen->width);
}

/* Element i of group g of vector k goes to element k of group g of vector i. */
static void transpose(struct tr_widen *widen, LLVMValueRef *vectors, uint32_t words)
{
    static const uint8_t zip[2][4] = {{0, 4, 1, 5}, {2, 6, 3, 7}};
    static const uint8_t halves[2][4] = {{0, 1, 4, 5}, {2, 3, 6, 7}};
    static const uint8_t pair[2][2] = {{0, 2}, {1, 3}};
    LLVMValueRef a[MAX_WORDS];
    for (uint32_t i = 0; i < words; i++)
        a[i] = vectors[i];
    if (words == 2) {
        for (uint32_t i = 0; i < 2; i++)
            vectors[i] = pick(widen, a[0], a[1], words, pair[i]);
        return;
    }
    for (uint32_t i = 0; i < 4; i++)
        a[i] = pick(widen, vectors[i / 2 * 2], vectors[i / 2 * 2 + 1], words, zip[i % 2]);
    for (uint32_t i = 0; i < 4; i++)
        vectors[i] = pick(widen, a[i / 2], a[i / 2 + 2], words, halves[i % 2]);
}

/* ---- emission ---- */

/* Of lane 0; of lanes at no constant distance: a vector of all. The block begins `low` bytes from
 * there. */
static LLVMValueRef lane_addresses(struct tr_widen *widen, const struct block *block, uint32_t copy)
{
    const struct tr_memory *memory = block->memory;
    if (!memory->has_stride)
        return tr_memory_lane_addresses(widen, memory, copy);
    return tr_memory_seed_stride(widen, memory, tr_widen_scalar(widen, memory->address, copy));
}

static LLVMValueRef block_address(struct tr_widen *widen, const struct block *block,
                                  LLVMValueRef addresses, uint32_t lane)
{
    if (block->memory->has_stride)
        return tr_memory_advance(widen, addresses, block->low + lane * block->memory->stride);
    LLVMValueRef own =
        LLVMBuildExtractElement(widen->builder, addresses, tr_memory_i32(widen, lane), "");
    return tr_memory_advance(widen, own, block->low);
}

static LLVMValueRef concatenate(struct tr_widen *widen, LLVMValueRef a, LLVMValueRef b)
{
    uint32_t elements[TR_MAX_WIDTH];
    uint32_t count = 2 * tr_widen_element_count(LLVMTypeOf(a));
    for (uint32_t i = 0; i < count; i++)
        elements[i] = i;
    return tr_widen_shuffle(widen, a, b, elements, count);
}

/* Loads for the lanes `first`, first + words, … */
static LLVMValueRef load_lanes(struct tr_widen *widen, const struct block *block,
                               LLVMValueRef addresses, uint32_t first)
{
    LLVMValueRef parts[TR_MAX_WIDTH];
    LLVMTypeRef type = LLVMVectorType(block->memory->type, block->words);
    uint32_t count = widen->width / block->words;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t lane = first + i * block->words;
        parts[i] =
            tr_memory_load(widen, &block->fields, type,
                           block_address(widen, block, addresses, lane), block->fields.align, NULL);
    }
    for (; count > 1; count /= 2)
        for (uint32_t i = 0; i < count / 2; i++)
            parts[i] = concatenate(widen, parts[2 * i], parts[2 * i + 1]);
    return parts[0];
}

static void load_block(struct tr_widen *widen, const struct block *block, uint32_t copy)
{
    LLVMValueRef vectors[MAX_WORDS];
    LLVMValueRef addresses = lane_addresses(widen, block, copy);
    for (uint32_t i = 0; i < block->words; i++)
        vectors[i] = load_lanes(widen, block, addresses, i);
    transpose(widen, vectors, block->words);
    for (uint32_t i = 0; i < block->fields.count; i++)
        tr_widen_define(widen, block->fields.values[i], copy, vectors[block->fields.fields[i]]);
}

static void store_block(struct tr_widen *widen, const struct block *block, uint32_t copy)
{
    LLVMValueRef vectors[MAX_WORDS];
    LLVMValueRef addresses = lane_addresses(widen, block, copy);
    uint32_t words = block->words;
    for (uint32_t i = 0; i < words; i++) {
        LLVMValueRef store = widen->iteration->graph.values[block->fields.values[i]].llvm;
        vectors[block->fields.fields[i]] = tr_widen_vector(widen, LLVMGetOperand(store, 0), copy);
    }
    transpose(widen, vectors, words);
    for (uint32_t lane = 0; lane < widen->width; lane++) {
        uint32_t elements[MAX_WORDS];
        for (uint32_t i = 0; i < words; i++)
            elements[i] = lane / words * words + i;
        tr_memory_store(widen, &block->fields,
                        tr_widen_shuffle(widen, vectors[lane % words], NULL, elements, words),
                        block_address(widen, block, addresses, lane), block->fields.align, NULL);
    }
}

/* ---- the step ---- */

static const void *find_own_block(struct tr_access_question *question)
{
    const struct tr_memory *memory = question->memory;
    if (!can_be_in_block(question))
        return NULL;
    struct block found = {.memory = memory, .words = BLOCK_BYTES / memory->bytes};
    struct group group = group_of(question->iteration, memory);
    if (!find_block(question->iteration, &group, &found))
        return NULL;
    struct block *block = pxr_arena_alloc_array(question->arena, 1, sizeof *block);
    question->is_out_of_memory |= block == NULL;
    if (block != NULL)
        *block = found;
    return block;
}

/* Accesses all of the block at the place of one of its words. */
static void access_block(struct tr_widen *widen, const struct tr_memory *memory, const void *detail)
{
    const struct block *block = detail;
    for (uint32_t c = 0; c < widen->copies && memory->value == block->fields.place; c++) {
        if (memory->stored != NULL)
            store_block(widen, block, c);
        else if (tr_widen_holder(widen, memory->value, c) == c)
            load_block(widen, block, c);
    }
}

const struct tr_access_step tr_word_blocks = {
    .name = "several words of each thread at once", .find = find_own_block, .emit = access_block};
