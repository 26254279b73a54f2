/* SPDX-License-Identifier: Apache-2.0
 *
 * Special registers in the program of one thread: calls of rt_sreg_…, with the properties that
 * ptx/sregs.def gives each.
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_SREGS_H
#define PTXRUN_TRANSLATOR_MODULE_SREGS_H

#include <stdbool.h>
#include <stddef.h>

#include <llvm-c/Types.h>

#include "ptx/ptx.h"

/* The threads that read the same value from it; later ones are wider. */
enum tr_sreg_scope { TR_SREG_THREAD, TR_SREG_WARP, TR_SREG_BLOCK, TR_SREG_CHUNK, TR_SREG_LAUNCH };

enum tr_quantity {
    TR_QUANTITY_OTHER,
    TR_QUANTITY_THREAD_INDEX, /* in the block */
    TR_QUANTITY_BLOCK_SIZE,   /* in threads */
    TR_QUANTITY_BLOCK_INDEX,  /* in the grid */
    TR_QUANTITY_GRID_SIZE,    /* in blocks */
    TR_QUANTITY_LANE,
    TR_QUANTITY_WARP,
    TR_QUANTITY_DYNAMIC_SHARED /* bytes */
};

struct tr_sreg_info {
    const char *function; /* rt_sreg_… */
    size_t function_len;
    enum tr_sreg_scope scope;
    bool is_steady;
    enum tr_quantity quantity;
    unsigned axis;
};

extern const struct tr_sreg_info tr_sregs[PTX_SREG_COUNT];

/* PTX_SREG_NONE: the function, or the instruction's callee, reads none. */
enum ptx_sreg tr_find_sreg(LLVMValueRef function);
enum ptx_sreg tr_sreg_of(LLVMValueRef inst);

/* The axis along which the instruction reads the quantity; -1: it does not. */
int tr_sreg_axis(LLVMValueRef inst, enum tr_quantity quantity);

#endif
