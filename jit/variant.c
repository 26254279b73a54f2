/* SPDX-License-Identifier: Apache-2.0
 *
 * Picking and planning of variants. The policy and its reasons are in docs/decisions.md.
 */
#include "jit/variant.h"

#include <string.h>

/* `auto` makes so many variants for single block shapes; further ones are for the facts that all
 * launches so far have in common. */
#define SHAPE_VARIANTS 4

/* Keeps of a block's shape what normal mode asks: whether it is one row, whether rows are whole
 * warps, and of tiles whose warps have several rows how long these are. */
static void keep_kind(const uint32_t block[3], bool has_whole_warps, struct tr_facts *facts)
{
    bool is_row = block[1] == 1 && block[2] == 1;
    bool is_tile = block[0] == 4 || block[0] == 8 || block[0] == 16;
    memset(facts, 0, sizeof *facts);
    facts->has_whole_warps = has_whole_warps;
    if (is_row)
        facts->block[1] = facts->block[2] = 1;
    else if (is_tile)
        facts->block[0] = block[0];
}

void jit_variants_facts(enum pxr_mode mode, const struct jit_launch *launch, struct tr_facts *facts)
{
    if (mode == PXR_MODE_NORMAL)
        keep_kind(launch->block, launch->block[0] % TR_FACTS_WARP == 0, facts);
    else
        jit_facts_of(launch, facts);
}

void *jit_variants_pick(const struct jit_variants *variants, const struct tr_facts *launch)
{
    unsigned count = atomic_load_explicit(&variants->count, memory_order_acquire);
    const struct jit_variants_entry *best = NULL;
    /* Nothing is better than all facts of the launch. */
    for (unsigned i = 0; i < count; i++)
        if (memcmp(launch, &variants->entries[i].facts, sizeof *launch) == 0)
            return variants->entries[i].variant;
    for (unsigned i = 0; i < count; i++) {
        const struct jit_variants_entry *entry = &variants->entries[i];
        if ((!best || entry->weight > best->weight) && jit_facts_imply(launch, &entry->facts))
            best = entry;
    }
    return best ? best->variant : NULL;
}

void jit_variants_plan(const struct jit_variants *variants, enum pxr_mode mode,
                       const struct tr_facts *launch, struct tr_facts *planned)
{
    unsigned count = atomic_load_explicit(&variants->count, memory_order_acquire);
    *planned = *launch;
    if (mode == PXR_MODE_NORMAL)
        keep_kind(launch->block, tr_has_whole_warps(launch), planned);
    else if (count >= JIT_VARIANTS_MAX - 1)
        memset(planned, 0, sizeof *planned);
    bool joins = mode == PXR_MODE_AUTO && count < JIT_VARIANTS_MAX - 1;
    for (unsigned i = 0; i < count && joins; i++) {
        const struct tr_facts *known = &variants->entries[i].facts;
        if (count >= SHAPE_VARIANTS ||
            memcmp(known->block, launch->block, sizeof launch->block) == 0)
            jit_facts_join(planned, known);
    }
    planned->begins_inside = launch->begins_inside;
}

bool jit_variants_add(struct jit_variants *variants, const struct tr_facts *facts, void *variant)
{
    unsigned count = atomic_load_explicit(&variants->count, memory_order_relaxed);
    if (count >= JIT_VARIANTS_MAX)
        return false;
    variants->entries[count] = (struct jit_variants_entry){
        .facts = *facts, .weight = jit_facts_weight(facts), .variant = variant};
    atomic_store_explicit(&variants->count, count + 1, memory_order_release);
    return true;
}
