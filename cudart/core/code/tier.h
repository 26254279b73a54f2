/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiers: a kernel begins with quick code, and gets the best when it has run for long enough to earn
 * it (docs/tiers.md). Internal to cudart/core/code and its users. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_TIER_H
#define PTXRUN_CUDART_CORE_CODE_TIER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/options.h"

struct crt_kernel;
struct crt_variant;
struct sch_progress;
struct tr_facts;

/* What a kernel has earned. All zero at first. */
struct crt_rent {
    _Atomic(uint64_t) ran_ns; /* in quick code, since the last best code was made; in this process
                                 and in those before, by the kernel's profile */
    _Atomic(uint64_t) running_ns;   /* of blocks that had not ended when somebody looked last */
    _Atomic(uint64_t) kept_ns;      /* of ran_ns, what the profile has … */
    _Atomic(uint64_t) inherited_ns; /* … and had from the beginning */
    _Atomic(uint64_t) paid_ns;      /* for best code when some was compiled last, here or before; 0:
                                       never */
    bool has_begun;                 /* with what earlier processes have left */
    atomic_bool is_settled;         /* best code is being made, or cannot be made */
};

/* --tier; but BEST where other options ask about the code or shape it. */
enum pxr_tier crt_tier(void);

/* Whether best code is made, and no option asks about it or shapes it. */
bool crt_tier_chooses_code(void);

/* The price of the kernel's best code as it is known now: what other variants have cost, or what
 * its quick code and the compilations of this process let expect. */
uint64_t crt_tier_price(const struct crt_kernel *kernel, const struct crt_variant *quick);

/* How long its quick code has run since best code was made last, with blocks that run. */
uint64_t crt_tier_ran(const struct crt_kernel *kernel);

/* How long its quick code runs before. */
uint64_t crt_tier_limit(const struct crt_kernel *kernel);

/* How often its quick code has run for the price, since best code was made last: of several kernels
 * that have earned theirs, the one with the most is compiled first. */
double crt_tier_urgency(const struct crt_kernel *kernel);

/* A grid has run quick code, and none of the best holds for its launch's facts: starts a background
 * compilation if that is earned now. */
void crt_tier_note(struct crt_kernel *kernel, const struct tr_facts *facts,
                   const struct sch_progress *progress);

/* Without threads in the background: whether the next launch is to compile the best code. */
bool crt_tier_is_due(const struct crt_kernel *kernel);

/* Adds what earlier processes have run, at the first call. The kernel's lock is held. */
void crt_tier_begin(struct crt_kernel *kernel);

/* Whether earlier processes have earned the best code. Then the first launch makes it: a process
 * that is soon over would throw away what a thread in the background makes, and so would the next.
 */
bool crt_tier_is_inherited(const struct crt_kernel *kernel);

/* Whether best code has been compiled for it, here or in an earlier process. */
bool crt_tier_has_paid(const struct crt_kernel *kernel);

/* A grid of quick code has ended: keeps what has come for later processes, if it is worth it. */
void crt_tier_keep(struct crt_kernel *kernel);

/* Best code for these facts was made, at this price; 0: it was in the cache. What was earned is
 * spent. */
void crt_tier_spend(struct crt_kernel *kernel, const struct tr_facts *facts, uint64_t took_ns);

/* Best code that by its quick code's price_ns should have cost predicted_ns has taken took_ns. */
void crt_tier_learn(uint64_t predicted_ns, uint64_t took_ns);

#endif
