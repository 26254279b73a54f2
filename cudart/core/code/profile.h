/* SPDX-License-Identifier: Apache-2.0
 *
 * What running a kernel has taught, kept beside its code for later processes: for which launches
 * code was asked for, how long quick code ran, what compiling the best code costs. Found by the
 * digest of the kernel's fingerprint, whatever machine or compiler it is. It only advises: nothing
 * is wrong when it is missing, old or another machine's. Internal to cudart/core/code. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_PROFILE_H
#define PTXRUN_CUDART_CORE_CODE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/cache.h"
#include "ptx/outline.h"
#include "translator/module/launch_facts.h"

/* A kernel has at most 8 variants in a process (JIT_VARIANTS_MAX). */
#define CRT_PROFILE_VARIANTS 16

struct crt_profile_variant {
    struct tr_facts facts;
    uint64_t asked; /* by so many processes; halved when variants have to make room */
};

struct crt_profile {
    uint64_t processes; /* that have added something */
    uint64_t quick_ns;  /* CPU time that quick code ran in all of them since the last price */
    uint64_t price_ns;  /* CPU time that best code took when it was compiled last; 0: never */
    uint32_t variant_count;
    struct crt_profile_variant variants[CRT_PROFILE_VARIANTS]; /* the most asked for first */
};

/* False, and all zero: nothing is known of the kernel. */
bool crt_profile_get(struct cache *cache, const uint8_t digest[PTX_DIGEST_BYTES],
                     struct crt_profile *profile);

/* Adds to what is known. The caller holds no claim. False: it could not be kept. */
bool crt_profile_add(struct cache *cache, const uint8_t digest[PTX_DIGEST_BYTES],
                     const struct crt_profile *more);

/* The same without a cache. A price in *more is paid: quick time begins anew. */
void crt_profile_merge(struct crt_profile *profile, const struct crt_profile *more);

#endif
