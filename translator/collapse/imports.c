/* SPDX-License-Identifier: Apache-2.0
 *
 * What a region takes from before its sync point. A plan says where every value is that may be
 * needed at some time behind a sync point; a short region between two of many warp operations uses
 * a few of them, and passes the others on as they are.
 */
#include <string.h>

#include "translator/collapse/collapse.h"

bool tr_is_saved_already(const struct tr_kernel *kernel, const struct tr_storage *storage,
                         uint32_t region, uint32_t sync, uint32_t value)
{
    const struct tr_crossing *crossings = storage->crossings;
    return region != 0 && tr_set_has(&crossings[region].saved, value) &&
           crossings[region].home[value] == crossings[sync].home[value] &&
           tr_is_warp_sync_point(kernel, region) == tr_is_warp_sync_point(kernel, sync) &&
           !tr_region_defines(kernel, region, value);
}

static void add_operands(const struct tr_value *value, struct tr_set *used)
{
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (value->operands[i] != TR_NONE)
            tr_set_add(used, value->operands[i]);
}

static void add_uses_of_code(const struct tr_kernel *kernel, uint32_t region, struct tr_set *used)
{
    const struct tr_set *segments = &kernel->regions[region].segments;
    for (uint32_t s = tr_set_next(segments, 0); s != TR_NONE; s = tr_set_next(segments, s + 1)) {
        const struct tr_segment *segment = &kernel->graph.segments[s];
        for (uint32_t i = 0; i < segment->value_count; i++)
            add_operands(&kernel->graph.values[segment->first_value + i], used);
    }
}

static uint32_t add_what_is_saved(const struct tr_kernel *kernel, const struct tr_storage *storage,
                                  uint32_t region, struct tr_set *used)
{
    const struct tr_set *outcomes = &kernel->regions[region].outcomes;
    uint32_t count = 0;
    for (uint32_t j = tr_set_next(outcomes, 0); j != TR_NONE; j = tr_set_next(outcomes, j + 1)) {
        const struct tr_set *saved = &storage->crossings[j].saved;
        for (uint32_t v = tr_set_next(saved, 0); v != TR_NONE; v = tr_set_next(saved, v + 1)) {
            if (tr_is_saved_already(kernel, storage, region, j, v))
                continue;
            tr_set_add(used, v);
            count++;
        }
    }
    return count;
}

uint32_t tr_find_imports(const struct tr_kernel *kernel, const struct tr_storage *storage,
                         uint32_t region, struct tr_set *imports)
{
    const struct tr_crossing *crossing = &storage->crossings[region];
    memset(imports->words, 0, imports->word_count * sizeof *imports->words);
    add_uses_of_code(kernel, region, imports);
    uint32_t count = add_what_is_saved(kernel, storage, region, imports);
    for (uint32_t i = crossing->again_count; i-- > 0;)
        if (tr_set_has(imports, crossing->again[i]))
            add_operands(&kernel->graph.values[crossing->again[i]], imports);
    return count;
}
