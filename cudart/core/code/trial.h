/* SPDX-License-Identifier: Apache-2.0
 *
 * Trials: code that was chosen by an estimate is measured against other forms of the same kernel,
 * one after the other, while its grids run (docs/choice.md). Internal to cudart/core/code.
 * Thread-safe.
 *
 * A variant has a trial from the beginning, or never; the trial dies with it. What the variant
 * stands for is then the trial's present code.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_TRIAL_H
#define PTXRUN_CUDART_CORE_CODE_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "cudart/core/code/module.h"
#include "scheduler/scheduler.h"

/* Best code for launches with these facts: in the form that has been found to be the fastest, with
 * a trial if there is more to find out. Errors of compiling. */
enum pxr_status crt_trial_make(struct crt_kernel *kernel, const struct tr_facts *facts,
                               struct crt_variant **variant, struct pxr_error *error);

/* The same only if it is in the cache; else NULL. */
struct crt_variant *crt_trial_find(struct crt_kernel *kernel, const struct tr_facts *facts);

/* The code for a launch: of two that are compared each in turn. */
const struct crt_variant *crt_trial_turn(const struct crt_variant *variant);

/* Whether the variant's grids are to tell how long they take. */
bool crt_trial_is_open(const struct crt_variant *variant);

/* A grid has run the variant's code, or the code compared with it. *other: what the verdict is
 * about. */
enum sch_verdict crt_trial_note(const struct crt_variant *variant,
                                const struct sch_progress *progress,
                                const struct crt_variant **other);

/* In the background: makes the next form, or keeps what has been found out. */
void crt_trial_go_on(struct crt_trial *trial);

/* The PTX line of an instruction in the variant's code, or in that of a form that was tried; 0. */
int crt_trial_line(const struct crt_variant *variant, uintptr_t pc);

/* NULL is allowed. Nobody runs its code any more. */
void crt_trial_destroy(struct crt_trial *trial);

#endif
