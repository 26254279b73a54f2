/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of the steps of tuning that are not skipped.
 */
#include <string.h>

#include "translator/vector/tuning/tuning.h"
#include "translator/vector/vector.h"
#include "translator/vector/version.h"

struct tr_tuning_hooks tr_tuning_hooks(uint32_t skipped)
{
#define IS_DONE(ID) ((skipped & UINT32_C(1) << TR_TUNING_##ID) == 0)
    struct tr_tuning_hooks hooks = {
        .ask_ahead = IS_DONE(PREFETCH) ? tr_tuning_prefetch : NULL,
        .is_in_run = IS_DONE(PREFETCH) ? tr_tuning_is_in_run : NULL,
        .find_step = IS_DONE(ROW_STEPS) ? tr_tuning_find_step : NULL,
        .has_common_places = IS_DONE(COMMON_PLACES),
        .split_rows = IS_DONE(SPLIT_ROWS) ? tr_split_rows : NULL,
        .shorten = IS_DONE(SHORTEN) ? tr_shorten : NULL,
    };
    uint32_t count = 0;
    if (IS_DONE(ASK_NEIGHBOURS))
        hooks.accesses[count++] = &tr_ask_neighbours;
    if (IS_DONE(WORD_BLOCKS))
        hooks.accesses[count++] = &tr_word_blocks;
#undef IS_DONE
    return hooks;
}

const struct tr_tuning_step tr_tuning_steps[TR_TUNING_COUNT] = {
#define TUNING(ID, step_name, step_purpose) {.name = step_name, .purpose = step_purpose},
#include "translator/vector/plan/tuning.def"
#undef TUNING
};

enum tr_tuning tr_find_tuning(const char *name, size_t len)
{
    int i = 0;
    while (i < TR_TUNING_COUNT && (strlen(tr_tuning_steps[i].name) != len ||
                                   memcmp(tr_tuning_steps[i].name, name, len) != 0))
        i++;
    return (enum tr_tuning)i;
}
