/* SPDX-License-Identifier: Apache-2.0
 *
 * Values that are made of some bits of a thread's number (tid, the counter of a row) and of a rest
 * in other bits: `tid >> 5`, `tid * 4 & 124`, and of `i = tid; …; i += 256` the place `i & 31`.
 * Private to translator/vector/tuning.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_TUNING_NUMBER_BITS_H
#define PTXRUN_TRANSLATOR_VECTOR_TUNING_NUMBER_BITS_H

#include "translator/vector/plan/plan.h"

struct tr_bits {
    bool are_known; /* the value is of that kind; all else is meaningless otherwise */
    int shift;      /* the number's bits are moved up by so many places, down if negative */
    uint64_t mask;  /* their places in the value */
    uint64_t ones;  /* constant ones in other places */
    bool has_rest; /* it has bits of something else, too, above all of these where that was added */
    bool is_cut;   /* a shift or a mask took the rest apart as well: nothing else tells that number
                      and rest grow independently */
};

struct tr_number_bits {
    const struct tr_graph *graph; /* of the loop's body */
    int length;                   /* bits that it can have */
    struct tr_bits *bits;         /* by value */
    LLVMValueRef *rests;          /* by value: what has been built */
};

/* In the graph's arena. Fails with PXR_OUT_OF_MEMORY. */
enum pxr_status tr_number_bits_find(struct tr_graph *graph, LLVMValueRef number, int length,
                                    struct tr_number_bits *found, struct pxr_error *err);

/* The places of the number's bits [from, to) in the value. */
uint64_t tr_bits_places(const struct tr_bits *bits, int from, int to);

/* The operand whose bits the value has, and the one that is added to its rest (of a phi: in each
 * turn), by number. TR_NONE: there is none, or it is a constant. */
uint32_t tr_bits_source(const struct tr_number_bits *found, uint32_t value);
uint32_t tr_bits_added(const struct tr_number_bits *found, uint32_t value);

/* Builds the rest at the value's place, once. The value may be erased then. NULL: it has none. */
LLVMValueRef tr_bits_build_rest(LLVMBuilderRef builder, struct tr_number_bits *found,
                                uint32_t value);

#endif
