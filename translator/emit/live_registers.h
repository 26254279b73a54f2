/* SPDX-License-Identifier: Apache-2.0
 *
 * Which registers of a function are live where: what they hold may still be read. Private to
 * translator/emit.
 */
#ifndef PTXRUN_TRANSLATOR_LIVE_REGISTERS_H
#define PTXRUN_TRANSLATOR_LIVE_REGISTERS_H

#include "translator/emit/emit.h"

struct tr_live {
    struct tr_ctx *ctx;
    const uint32_t *order;   /* of the function's statements (matrix_order.h); NULL: as written */
    const uint32_t *numbers; /* by ptx_var.index: of the registers that are asked for, others
                                TR_NONE */
    uint32_t count;          /* of these */
    struct tr_set *at_label; /* by ptx_label.index */
    struct tr_set now;       /* by these numbers */
};

/* Needs the fields up to count. False: out of memory, or it would take too much. */
bool tr_find_live(struct tr_live *live);

/* Calls fn for each instruction, the last first; `now` has what is live behind it, and at the end
 * what is live where the function begins. */
typedef void (*tr_live_fn)(const struct tr_live *live, const struct ptx_inst *inst, void *data);
void tr_walk_live(struct tr_live *live, tr_live_fn fn, void *data);

#endif
