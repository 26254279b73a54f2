/* SPDX-License-Identifier: Apache-2.0
 *
 * Random launches, and what is true of them.
 */
#include "facts_helper.h"

#include "ptx/ops.h"

uint32_t facts_random_below(struct facts_random *random, uint32_t limit)
{
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random->state >> 33) * limit >> 31);
}

void facts_launch_add(struct facts_launch *launch, enum ptx_type type, uint64_t value)
{
    uint32_t n = launch->param_count++;
    launch->vars[n] = (struct ptx_var){.type = type,
                                       .vector_len = 1,
                                       .elem_count = 1,
                                       .size_bytes = ptx_type_bytes(type),
                                       .param_offset_bytes = 8 * n};
    launch->values[n] = value;
}

static bool find_memory(uintptr_t address, uintptr_t *start)
{
    if (address < FACTS_MEMORY(0) || address >= FACTS_MEMORY(FACTS_LAUNCH_PARAMS))
        return false;
    uintptr_t n = (address - FACTS_MEMORY(0)) / (FACTS_MEMORY(1) - FACTS_MEMORY(0));
    *start = FACTS_MEMORY(n);
    return address - *start < FACTS_MEMORY_BYTES;
}

const struct jit_launch *facts_launch_view(struct facts_launch *launch)
{
    for (uint32_t i = 0; i < launch->param_count; i++)
        launch->var_pointers[i] = &launch->vars[i];
    launch->func.params = (void *)launch->var_pointers;
    launch->func.param_count = launch->param_count;
    launch->view = (struct jit_launch){
        .kernel = &launch->func,
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .block = {launch->block[0], launch->block[1], launch->block[2]},
        .dynamic_shared_bytes = launch->dynamic_shared_bytes,
        .params = (const uint8_t *)launch->values, /* little-endian, 8 bytes apart */
        .find_allocation = find_memory,
    };
    return &launch->view;
}

static uint32_t random_size(struct facts_random *random, uint32_t limit)
{
    uint32_t bits = facts_random_below(random, 31);
    uint32_t size = 1 + facts_random_below(random, 1u << bits);
    return size < limit ? size : limit;
}

static uint64_t random_value(struct facts_random *random, enum ptx_type type)
{
    switch (facts_random_below(random, type == PTX_TYPE_U64 ? 7 : 3)) {
    case 0:
        return random_size(random, UINT32_MAX);
    case 1:
        return (UINT64_C(1) << facts_random_below(random, 32)) - facts_random_below(random, 2);
    case 2:
        return facts_random_below(random, 2) ? facts_random_below(random, UINT32_MAX) : 0;
    case 3:
        return (uint64_t)facts_random_below(random, UINT32_MAX) << facts_random_below(random, 32);
    case 4: /* a texture's handle, or nearly */
        return UINT64_C(0xa008) << 48 ^ (uint64_t)facts_random_below(random, 16) << 49 ^
               FACTS_MEMORY(facts_random_below(random, 6));
    default:
        return FACTS_MEMORY(facts_random_below(random, 6)) +
               ((uint64_t)facts_random_below(random, 1024) << facts_random_below(random, 8));
    }
}

static void randomise_shape(struct facts_launch *launch, struct facts_random *random)
{
    static const uint32_t grid_limits[3] = {TR_GRID_MAX_X, TR_GRID_MAX_YZ, TR_GRID_MAX_YZ};
    for (int d = 0; d < 3; d++) {
        launch->grid[d] = random_size(random, facts_random_below(random, 2) ? grid_limits[d] : 1);
        launch->block[d] = 1 + facts_random_below(random, d == 0 ? 64 : 4);
    }
    launch->dynamic_shared_bytes = 16 * facts_random_below(random, 3);
}

struct facts_launch facts_launch_random(struct facts_random *random)
{
    static const enum ptx_type types[] = {PTX_TYPE_U64, PTX_TYPE_U64, PTX_TYPE_U32, PTX_TYPE_S32,
                                          PTX_TYPE_B32, PTX_TYPE_F32, PTX_TYPE_U16};
    struct facts_launch launch = {.param_count = 0};
    randomise_shape(&launch, random);
    uint32_t many = facts_random_below(random, 10) == 0;
    uint32_t count = facts_random_below(random, many ? FACTS_LAUNCH_PARAMS : 9);
    for (uint32_t i = 0; i < count; i++) {
        enum ptx_type type = types[facts_random_below(random, sizeof types / sizeof types[0])];
        facts_launch_add(&launch, type, random_value(random, type));
    }
    return launch;
}

struct facts_launch facts_launch_vary(const struct facts_launch *launch,
                                      struct facts_random *random)
{
    struct facts_launch varied = *launch;
    if (facts_random_below(random, 3) == 0)
        randomise_shape(&varied, random);
    for (uint32_t i = 0; i < varied.param_count; i++)
        if (facts_random_below(random, 6) == 0)
            varied.values[i] = random_value(random, varied.vars[i].type);
    return varied;
}

/* ---- the judge ---- */

static bool shares_memory(const struct facts_launch *launch, uint32_t param)
{
    for (uint32_t i = 0; i < launch->param_count; i++)
        if (i != param && launch->vars[i].size_bytes == 8 &&
            launch->values[i] / 0x20000 == launch->values[param] / 0x20000 &&
            launch->values[i] % 0x20000 < FACTS_MEMORY_BYTES)
            return true;
    return false;
}

static bool is_param_true(const struct tr_param_fact *fact, const struct facts_launch *launch,
                          uint32_t param)
{
    if (fact->max_log2 == 0 && fact->align_log2 == 0 && !fact->is_distinct &&
        fact->image_shape == 0)
        return true;
    if (param >= launch->param_count)
        return false;
    const struct ptx_var *var = &launch->vars[param];
    bool is_float = var->type == PTX_TYPE_F32 || var->type == PTX_TYPE_F64;
    uint64_t value = launch->values[param];
    if (var->size_bytes == 4)
        value &= UINT32_MAX;
    if (is_float || var->size_bytes < 4)
        return false;
    if (fact->max_log2 && value > UINT64_C(1) << fact->max_log2)
        return false;
    /* Alignment is said of large values only: a small one is no address. */
    if (fact->align_log2 && (var->size_bytes != 8 || value % (UINT64_C(1) << fact->align_log2) ||
                             value <= UINT64_C(1) << 30))
        return false;
    if (fact->image_shape != 0 && (var->size_bytes != 8 || value >> 48 != fact->image_shape))
        return false;
    uintptr_t start;
    return !fact->is_distinct ||
           (var->size_bytes == 8 && find_memory(value, &start) && !shares_memory(launch, param));
}

bool facts_are_true(const struct tr_facts *facts, const struct facts_launch *launch)
{
    for (int d = 0; d < 3; d++) {
        if (facts->block[d] && facts->block[d] != launch->block[d])
            return false;
        if (facts->grid_max[d] && launch->grid[d] > facts->grid_max[d])
            return false;
    }
    if (facts->has_whole_warps && launch->block[0] % 32 != 0)
        return false;
    if (facts->has_dynamic_shared && facts->dynamic_shared_bytes != launch->dynamic_shared_bytes)
        return false;
    for (uint32_t i = 0; i < TR_FACTS_PARAMS; i++)
        if (!is_param_true(&facts->params[i], launch, i))
            return false;
    return true;
}
