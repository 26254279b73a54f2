/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of the vectoriser.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_PLAN_VECTOR_OPTIONS_H
#define PTXRUN_TRANSLATOR_VECTOR_PLAN_VECTOR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Types.h>

#include "translator/module/budget.h"
#include "translator/module/target.h"

/* Defects for tests to seed, one at a time. */
enum tr_vector_seed {
    TR_VECTOR_SEED_NONE,
    TR_VECTOR_SEED_MASK,   /* an access, or a change of a variable, is done for all lanes although
                              some are not active */
    TR_VECTOR_SEED_STRIDE, /* an address is one element off in a lane */
    TR_VECTOR_SEED_FREEZE, /* a condition decides although it belongs to lanes that are not active:
                              the freeze, or the select in place of an `and`, that guards against
                              poison is missing */
    TR_VECTOR_SEED_COUNT
};

/* Conditions for stores with TR_MARK_NONTEMPORAL to go past the caches: i1 each, or NULL if there
 * are no such stores. The caller adds a fence where control leaves the function. */
struct tr_streaming {
    LLVMValueRef of_rows; /* they write more than caches forget soon. Enough where rows are short:
                             the machine does not see what follows them */
    LLVMValueRef of_all;  /* they write more than caches hold; implies the other */
};

/* Steps that speed up some kernels and that no other step needs. */
enum tr_tuning {
#define TUNING(ID, name, purpose) TR_TUNING_##ID,
#include "translator/vector/plan/tuning.def"
#undef TUNING
    TR_TUNING_COUNT
};

struct tr_vector_options {
    uint32_t width;                 /* lanes of a vector, a power of two, 2 to 64; 0: chosen */
    uint32_t jam;                   /* copies, 1 to 32; 0: chosen */
    const struct tr_target *target; /* never NULL */
    struct tr_budget *budget;       /* of compile effort; NULL: there is no limit */
    struct tr_streaming streaming;
    bool has_local_arrays;    /* of threads, in rt_block.frame; for what is said only */
    uint32_t skipped;         /* steps of tuning that are left out: 1 << enum tr_tuning */
    uint32_t function_length; /* instructions; 0: tr_vectorise counts them */
    uint32_t copies_max;      /* no more unless they are asked for; 0: by the function's length */
    bool is_forced;           /* also loops that are likely to be slower as vectors */
    uint32_t least_divisor;   /* for tests: lanes go on group by group (groups.h) if divisors are as
                                 large; 0: as is estimated */
    bool is_poisoned; /* for tests: values of lanes that are not active are poison, as any of
                         them may be */
    enum tr_vector_seed seed;
    uint32_t seed_site;
};

#endif
