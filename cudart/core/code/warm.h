/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiling ahead: what launches will want goes into the cache, without a launch. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_WARM_H
#define PTXRUN_CUDART_CORE_CODE_WARM_H

#include "cudart/core/code/module.h"

/* Where compiled code is kept, and for what it is made. */
struct crt_warm_place {
    const char *path;     /* NULL: nowhere */
    uint64_t limit_bytes; /* for cache_open */
    const char *target;   /* as the entries have it; NULL: not known */
    const char *maker;
};

enum crt_warm_outcome {
    CRT_WARM_MADE,
    CRT_WARM_PRESENT,
    CRT_WARM_REFUSED, /* the kernel cannot be translated: a launch would fail as well */
    CRT_WARM_FAILED   /* it could not be compiled, or not be kept */
};

/* Code for launches of which nothing is known. */
#define CRT_WARM_VARIANTS 5

CRT_API_BEGIN

/* has_target: the last two are wanted as well, for which the compile library may have to be opened.
 * *err: why the last two are not known. */
void crt_warm_find_place(bool has_target, struct crt_warm_place *place, struct pxr_error *err);

/* Opens an image; name: what messages call it. On failure *err says why. */
enum crt_result crt_warm_load(const void *image, size_t image_bytes, const char *name,
                              struct crt_library **library, struct pxr_error *err);

/* The kernels of a library; NULL beyond the last. */
struct crt_kernel *crt_warm_kernel_at(const struct crt_library *library, size_t number);

/* How long it takes to compile the kernel, in a unit of its own. */
uint64_t crt_warm_weight(struct crt_kernel *kernel);

/* What first launches will ask for when nobody knows their shape: quick code, and the best for
 * blocks of one row, of whole warps or not, for any of whole warps and for all. Returns how many.
 */
size_t crt_warm_plan(const struct crt_kernel *kernel,
                     struct jit_variant variants[CRT_WARM_VARIANTS]);

/* Sees to it that the code is in the cache. *err: why it is not. */
enum crt_warm_outcome crt_warm_kernel(struct crt_kernel *kernel, const struct jit_variant *variant,
                                      const char *skip, struct pxr_error *err);

CRT_API_END

#endif
