/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers made anew in front of the code that makes them, to ask whether indices wrap. Private to
 * steady.c and steady_range.c.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_STEADY_H
#define PTXRUN_TRANSLATOR_VECTOR_STEADY_H

#include "translator/vector/emit/widen.h"

/* The lanes that are asked about, and where. */
struct tr_of_lanes {
    uint32_t copy; /* the first is lane 0 of it */
    uint32_t lanes;
    uint32_t behind; /* values up to this one have been emitted; TR_NONE: none */
};

/* Whether the number can be made of what lane 0 has. */
bool tr_steady_can_make(const struct tr_widen *widen, LLVMValueRef number, uint32_t behind);

/* What lane 0 has of a number that can be made, or would have if it is not active. Frozen. */
LLVMValueRef tr_steady_number(struct tr_widen *widen, LLVMValueRef number,
                              const struct tr_of_lanes *of);
/* The same of a number that is made of a phi, by sums and differences with others that can be made,
 * with another number in place of the phi. */
LLVMValueRef tr_steady_with(struct tr_widen *widen, LLVMValueRef number, LLVMValueRef phi,
                            LLVMValueRef in_place, const struct tr_of_lanes *of);

/* i1: an index that goes on in loops does not wrap in any turn that the lanes come to. */
LLVMValueRef tr_steady_check_range(struct tr_widen *widen, const struct tr_steady *steady,
                                   const struct tr_of_lanes *of);

#endif
