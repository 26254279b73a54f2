/* SPDX-License-Identifier: Apache-2.0
 *
 * How a kernel comes to code: out of the cache, or compiled; and what is said of it. Internal to
 * cudart/core/code. Thread-safe; takes no lock under which code is looked for.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_MAKE_CODE_H
#define PTXRUN_CUDART_CORE_CODE_MAKE_CODE_H

#include "cudart/core/code/module.h"

/* What became of an attempt. */
struct crt_made {
    bool is_cached;      /* not compiled, but found */
    uint64_t elapsed_ns; /* with loading */
    uint64_t cpu_ns;     /* of compiling; 0: it was not */
    uint64_t price_ns;   /* what the best code was expected to take before; 0: nobody has asked */
};

/* What code is made for. Of the second kind --stats and --explain say nothing here. */
enum crt_purpose { CRT_FOR_LAUNCHES, CRT_TO_COMPARE };

/* Code as the key asks for it; *variant is the caller's to add or free (crt_variant_free). Others
 * that make the same meanwhile, here and in other processes, wait for it. */
enum pxr_status crt_code_make(struct crt_kernel *kernel, const struct jit_variant *key,
                              enum crt_purpose purpose, struct crt_variant **variant,
                              struct pxr_error *error);

/* The same for launches, only if it is in the cache; else NULL. */
struct crt_variant *crt_code_find(struct crt_kernel *kernel, const struct jit_variant *key);

void crt_variant_free(struct crt_variant *variant);

/* ---- print_explanation.c ---- */

/* Lines of --explain, written at once so that those of several threads do not mix. */
void crt_explain(const struct crt_kernel *kernel, const struct crt_variant *variant,
                 const struct jit_object *object, const struct crt_made *made);

#endif
