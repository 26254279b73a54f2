/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts of a launch, and the order among them: each fact is one number of which "not known" is the
 * weakest, so everything is done number by number.
 */
#include "jit/facts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernel_abi/image_shape.h"

/* Values of integer parameters are rounded up to one of these powers of two: products of three, of
 * two, and a single one stay below 2^31 … */
static const uint8_t param_sizes_log2[] = {10, 15, 30};

/* … and so are numbers of blocks: of 32 threads times a parameter of the second kind, and so on; up
 * to the last but one an index is below 2^31 in blocks of 256 threads. One block in x is nothing
 * special: it is how reductions end. */
static const uint32_t grid_sizes_x[] = {1u << 10, 1u << 16, 1u << 21, 1u << 23, TR_GRID_MAX_X};
static const uint32_t grid_sizes_yz[] = {1, 1u << 10, TR_GRID_MAX_YZ};

/* Alignment beyond that of the largest access is of no use. */
#define ALIGN_MAX_LOG2 4
#define ALIGN_MIN_LOG2 2

/* A known shape is worth more than all other facts. */
#define BLOCK_WEIGHT 4096
#define WARPS_WEIGHT 2048
/* Without it a fetch is a call for each thread. */
#define SHAPE_WEIGHT 64

static uint8_t value_max_log2(uint64_t value)
{
    for (size_t i = 0; i < sizeof param_sizes_log2; i++)
        if (value <= UINT64_C(1) << param_sizes_log2[i])
            return param_sizes_log2[i];
    return 0;
}

static uint8_t value_align_log2(uint64_t value)
{
    uint8_t log2 = ALIGN_MAX_LOG2;
    while (log2 >= ALIGN_MIN_LOG2 && value % (1u << log2) != 0)
        log2--;
    return log2 >= ALIGN_MIN_LOG2 ? log2 : 0;
}

static uint16_t value_shape(uint64_t value)
{
    uint32_t shape = rt_handle_shape(value);
    return rt_is_shape(shape) ? (uint16_t)shape : 0;
}

static bool is_integer(const struct ptx_var *param)
{
    bool has_size = param->size_bytes == 4 || param->size_bytes == 8;
    return has_size && param->vector_len == 1 && param->elem_count == 1 && !param->is_array &&
           !ptx_type_is_float(param->type) && ptx_type_bytes(param->type) == param->size_bytes;
}

static uint64_t param_value(const struct jit_launch *launch, const struct ptx_var *param)
{
    const uint8_t *bytes = launch->params + param->param_offset_bytes;
    if (param->size_bytes == 4) {
        uint32_t value;
        memcpy(&value, bytes, sizeof value);
        return value;
    }
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static uint32_t fact_param_count(const struct ptx_func *kernel)
{
    return kernel->param_count < TR_FACTS_PARAMS ? kernel->param_count : TR_FACTS_PARAMS;
}

/* starts[n]: the start of the allocation into which parameter n points. Parameters beyond those
 * that have facts count as well. */
static void mark_distinct(const struct jit_launch *launch, struct tr_facts *facts)
{
    uintptr_t starts[TR_FACTS_PARAMS];
    uint32_t owners[TR_FACTS_PARAMS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < launch->kernel->param_count; i++) {
        const struct ptx_var *param = launch->kernel->params[i];
        uintptr_t start;
        if (!is_integer(param) || param->size_bytes != 8 ||
            !launch->find_allocation((uintptr_t)param_value(launch, param), &start))
            continue;
        uint32_t same = 0;
        while (same < count && starts[same] != start)
            same++;
        if (same < count) {
            facts->params[owners[same]].is_distinct = false;
        } else if (i < TR_FACTS_PARAMS) {
            starts[count] = start;
            owners[count++] = i;
            facts->params[i].is_distinct = true;
        }
    }
}

void jit_facts_of(const struct jit_launch *launch, struct tr_facts *facts)
{
    memset(facts, 0, sizeof *facts);
    for (int d = 0; d < 3; d++) {
        facts->block[d] = launch->block[d];
        const uint32_t *size = d == 0 ? grid_sizes_x : grid_sizes_yz;
        while (*size < launch->grid[d])
            size++;
        facts->grid_max[d] = *size;
    }
    facts->has_dynamic_shared = true;
    facts->dynamic_shared_bytes = launch->dynamic_shared_bytes;
    for (uint32_t i = 0; i < fact_param_count(launch->kernel); i++) {
        const struct ptx_var *param = launch->kernel->params[i];
        if (!is_integer(param))
            continue;
        uint64_t value = param_value(launch, param);
        facts->params[i].max_log2 = value_max_log2(value);
        if (param->size_bytes == 8 && facts->params[i].max_log2 == 0) {
            facts->params[i].align_log2 = value_align_log2(value);
            facts->params[i].image_shape = value_shape(value);
        }
    }
    if (launch->find_allocation)
        mark_distinct(launch, facts);
}

/* ---- one number each ---- */

static bool param_implies(const struct tr_param_fact *known, const struct tr_param_fact *assumed)
{
    bool max =
        assumed->max_log2 == 0 || (known->max_log2 != 0 && known->max_log2 <= assumed->max_log2);
    return max && known->align_log2 >= assumed->align_log2 &&
           known->is_distinct >= assumed->is_distinct &&
           (assumed->image_shape == 0 || known->image_shape == assumed->image_shape);
}

static bool is_size(uint32_t value, const uint32_t *sizes, size_t count)
{
    bool is_one = value == 0;
    for (size_t i = 0; i < count; i++)
        is_one = is_one || sizes[i] == value;
    return is_one;
}

static bool param_fits(const struct ptx_func *kernel, uint32_t number,
                       const struct tr_param_fact *fact)
{
    bool has_facts = fact->max_log2 || fact->align_log2 || fact->is_distinct || fact->image_shape;
    if (!has_facts)
        return true;
    if (number >= fact_param_count(kernel) || !is_integer(kernel->params[number]))
        return false;
    bool is_long = kernel->params[number]->size_bytes == 8;
    bool is_max = fact->max_log2 == 0 ||
                  memchr(param_sizes_log2, fact->max_log2, sizeof param_sizes_log2) != NULL;
    bool is_shape = fact->image_shape == 0 || rt_is_shape(fact->image_shape);
    return is_max && is_shape && fact->align_log2 <= ALIGN_MAX_LOG2 &&
           (is_long || (fact->align_log2 == 0 && !fact->is_distinct && fact->image_shape == 0));
}

bool jit_facts_fit(const struct ptx_func *kernel, const struct tr_facts *facts)
{
    bool do_fit = is_size(facts->grid_max[0], grid_sizes_x, sizeof grid_sizes_x / 4) &&
                  is_size(facts->grid_max[1], grid_sizes_yz, sizeof grid_sizes_yz / 4) &&
                  is_size(facts->grid_max[2], grid_sizes_yz, sizeof grid_sizes_yz / 4);
    for (uint32_t i = 0; i < TR_FACTS_PARAMS; i++)
        do_fit = do_fit && param_fits(kernel, i, &facts->params[i]);
    return do_fit;
}

bool jit_facts_imply(const struct tr_facts *known, const struct tr_facts *assumed)
{
    for (int d = 0; d < 3; d++) {
        if (assumed->block[d] != 0 && assumed->block[d] != known->block[d])
            return false;
        if (assumed->grid_max[d] != 0 &&
            (known->grid_max[d] == 0 || known->grid_max[d] > assumed->grid_max[d]))
            return false;
    }
    if (assumed->has_whole_warps && !tr_has_whole_warps(known))
        return false;
    if (assumed->has_dynamic_shared &&
        (!known->has_dynamic_shared ||
         known->dynamic_shared_bytes != assumed->dynamic_shared_bytes))
        return false;
    if (known->begins_inside && !assumed->begins_inside)
        return false;
    for (uint32_t i = 0; i < TR_FACTS_PARAMS; i++)
        if (!param_implies(&known->params[i], &assumed->params[i]))
            return false;
    return true;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The larger bound, where 0 means no bound. */
static uint32_t looser(uint32_t a, uint32_t b)
{
    if (a == 0 || b == 0)
        return 0;
    return a > b ? a : b;
}

void jit_facts_join(struct tr_facts *facts, const struct tr_facts *other)
{
    bool has_whole_warps = tr_has_whole_warps(facts) && tr_has_whole_warps(other);
    for (int d = 0; d < 3; d++) {
        if (facts->block[d] != other->block[d])
            facts->block[d] = 0;
        facts->grid_max[d] = looser(facts->grid_max[d], other->grid_max[d]);
    }
    facts->has_whole_warps = has_whole_warps && facts->block[0] == 0;
    if (!other->has_dynamic_shared || facts->dynamic_shared_bytes != other->dynamic_shared_bytes) {
        facts->has_dynamic_shared = false;
        facts->dynamic_shared_bytes = 0;
    }
    facts->begins_inside |= other->begins_inside;
    for (uint32_t i = 0; i < TR_FACTS_PARAMS; i++) {
        struct tr_param_fact *a = &facts->params[i];
        const struct tr_param_fact *b = &other->params[i];
        a->max_log2 = (uint8_t)looser(a->max_log2, b->max_log2);
        a->align_log2 = (uint8_t)smaller(a->align_log2, b->align_log2);
        a->is_distinct = (uint8_t)smaller(a->is_distinct, b->is_distinct);
        a->image_shape = a->image_shape == b->image_shape ? a->image_shape : 0;
    }
}

bool jit_facts_equal(const struct tr_facts *a, const struct tr_facts *b)
{
    return jit_facts_imply(a, b) && jit_facts_imply(b, a);
}

/* 0 for no bound; the tighter the bound, the more. */
static unsigned grid_weight(uint32_t grid_max)
{
    return grid_max ? 32 - (unsigned)(31 - __builtin_clz(grid_max)) : 0;
}

unsigned jit_facts_weight(const struct tr_facts *facts)
{
    unsigned weight = facts->has_dynamic_shared + (facts->has_whole_warps ? WARPS_WEIGHT : 0);
    for (int d = 0; d < 3; d++)
        weight += (facts->block[d] ? BLOCK_WEIGHT : 0) + grid_weight(facts->grid_max[d]);
    for (uint32_t i = 0; i < TR_FACTS_PARAMS; i++) {
        const struct tr_param_fact *param = &facts->params[i];
        weight += (param->max_log2 ? 64u - param->max_log2 : 0) + param->align_log2 +
                  param->is_distinct + (param->image_shape ? SHAPE_WEIGHT : 0);
    }
    return weight;
}

/* ---- text ---- */

struct text {
    char *at;
    size_t room;
    bool is_empty;
};

__attribute__((format(printf, 2, 3))) static void add_text(struct text *text, const char *format,
                                                           ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text->at, text->room, format, args);
    va_end(args);
    size_t used = len < 0 ? 0 : (size_t)len;
    if (used >= text->room)
        used = text->room ? text->room - 1 : 0;
    text->at += used;
    text->room -= used;
    text->is_empty = false;
}

static const char *comma(const struct text *text)
{
    return text->is_empty ? "" : ", ";
}

/* 12x1x1, with ? for unknown numbers; nothing if all are unknown. */
static void add_shape(struct text *text, const char *what, const uint32_t shape[3])
{
    if (!shape[0] && !shape[1] && !shape[2])
        return;
    add_text(text, "%s%s ", comma(text), what);
    for (int d = 0; d < 3; d++) {
        if (shape[d])
            add_text(text, "%s%u", d ? "x" : "", shape[d]);
        else
            add_text(text, "%s?", d ? "x" : "");
    }
}

static void add_param(struct text *text, uint32_t number, const struct tr_param_fact *param)
{
    if (!param->max_log2 && !param->align_log2 && !param->is_distinct && !param->image_shape)
        return;
    add_text(text, "%sparameter %u", comma(text), number);
    if (param->max_log2)
        add_text(text, " <= %llu", 1ull << param->max_log2);
    if (param->align_log2)
        add_text(text, " aligned to %u", 1u << param->align_log2);
    if (param->is_distinct)
        add_text(text, "%s in memory of its own", param->align_log2 ? " and" : "");
    if (param->image_shape)
        add_text(text, "%s a texture of shape %04x",
                 param->align_log2 || param->is_distinct ? " and" : "", param->image_shape);
}

void jit_facts_text(const struct tr_facts *facts, char *buffer, size_t size_bytes)
{
    struct text text = {buffer, size_bytes, true};
    add_shape(&text, "block", facts->block);
    if (facts->has_whole_warps)
        add_text(&text, "%srows of whole warps", comma(&text));
    add_shape(&text, "grid at most", facts->grid_max);
    if (facts->has_dynamic_shared)
        add_text(&text, "%s%u bytes of dynamic shared memory", comma(&text),
                 facts->dynamic_shared_bytes);
    if (facts->begins_inside)
        add_text(&text, "%sthe first threads of a block may have run", comma(&text));
    for (uint32_t i = 0; i < TR_FACTS_PARAMS; i++)
        add_param(&text, i, &facts->params[i]);
    if (text.is_empty)
        add_text(&text, "none");
}
