/* SPDX-License-Identifier: Apache-2.0
 *
 * A trial as trial.c and trial_note.c see it.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_TRIAL_STATE_H
#define PTXRUN_CUDART_CORE_CODE_TRIAL_STATE_H

#include "cudart/core/code/choice.h"
#include "cudart/core/code/comparison.h"
#include "cudart/core/code/trial.h"

/* What is behind the lock is changed by who holds it while there is a rival, and by the background
 * while there is none and it is busy. */
struct crt_trial {
    struct crt_kernel *kernel;
    struct crt_variant *first; /* whose trial it is */
    _Atomic(struct crt_variant *) present;
    _Atomic(struct crt_variant *) rival;     /* compared with it; NULL: none just now */
    struct crt_variant *made[CRT_FORMS_MAX]; /* by form; written before made_count … */
    atomic_uint made_count;                  /* … counts it */
    _Atomic(uint64_t) ran_ns;                /* all of its code, in this process */
    _Atomic(uint64_t) spent_ns;              /* for trying: compiling, and slower code */
    atomic_uint turns;                       /* that have been told of, or taken by launches */
    atomic_bool is_busy;                     /* the background makes something */
    atomic_bool is_over;
    atomic_flag lock;
    struct crt_choice choice;
    struct crt_form form; /* the rival's */
    struct crt_comparison comparison;
    bool is_decided; /* the comparison; nobody has been told yet */
};

static inline struct crt_variant *crt_trial_present(const struct crt_trial *trial)
{
    return atomic_load_explicit(&trial->present, memory_order_acquire);
}

static inline struct crt_variant *crt_trial_rival(const struct crt_trial *trial)
{
    return atomic_load_explicit(&trial->rival, memory_order_acquire);
}

/* trial_note.c: counts what trying has cost. */
void crt_trial_spend(struct crt_trial *trial, uint64_t ns);

#endif
