/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled code in the cache on the disk: under which key it is, and whether it is looked for at
 * all. Internal to cudart/core/code. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_CODE_CACHE_H
#define PTXRUN_CUDART_CORE_CODE_CODE_CACHE_H

#include <stdbool.h>

#include "cache/cache.h"
#include "jit/jit.h"
#include "ptx/outline.h"

/* What is wanted of a kernel: its code, only whether it can be translated, or what has been
 * measured of its code. */
enum crt_cached_kind { CRT_CACHED_CODE, CRT_CACHED_CHECK, CRT_CACHED_CHOICE };

/* What became of one look into the cache; crt_code_cache_end has to follow. */
struct crt_cached {
    bool is_wanted;     /* the code may be stored */
    const char *kernel; /* its name, and the tier: what the entry says of itself */
    bool is_quick;
    struct cache_key key;
    struct cache_claim claim;
};

/* The code for a request, as jit_compile would give it (the caller ends it with jit_object_fini).
 * Of the request only the variant and the options are read; digest tells the kernel.
 * If it is not there, other threads and processes that look for it wait for a while, until it is
 * kept. */
bool crt_code_cache_find(const struct jit_request *request, const uint8_t digest[PTX_DIGEST_BYTES],
                         struct jit_object *object, struct crt_cached *cached);

/* The same without waiting, and without becoming the one who makes it. */
bool crt_code_cache_look(const struct jit_request *request, const uint8_t digest[PTX_DIGEST_BYTES],
                         struct jit_object *object, struct crt_cached *cached);

/* Has to follow: stores what was compiled, if there is anything and it is still wanted. Returns
 * whether it is there now. */
bool crt_code_cache_keep(struct crt_cached *cached, const struct jit_object *object);

/* Stores PTX, so that others can compile it. name: of the image. */
bool crt_code_cache_keep_ptx(const struct cache_key *key, const char *name, const void *bytes,
                             size_t count);

/* Where the options and the environment have the cache, whether it is on or not; NULL: nowhere. */
const char *crt_code_cache_path(void);

/* What entries of this machine say of themselves (struct cache_about); false: it is not known. */
bool crt_code_cache_target(const char **about, const char **maker, struct pxr_error *err);

/* Whether a process has found that jit_check takes the request; and that this one has. */
bool crt_code_cache_find_check(const struct jit_request *request,
                               const uint8_t digest[PTX_DIGEST_BYTES], struct crt_cached *cached);
void crt_code_cache_keep_check(const struct crt_cached *cached);

/* A record about the code for a request (malloc; the caller frees it). False: there is none. */
bool crt_code_cache_find_choice(const struct jit_request *request,
                                const uint8_t digest[PTX_DIGEST_BYTES], uint8_t **bytes,
                                size_t *count);
void crt_code_cache_keep_choice(const struct jit_request *request,
                                const uint8_t digest[PTX_DIGEST_BYTES], const uint8_t *bytes,
                                size_t count);

/* The key of a request made by that compiler for that target; for tests. */
struct cache_key crt_code_key(enum crt_cached_kind kind, const struct jit_request *request,
                              const uint8_t digest[PTX_DIGEST_BYTES],
                              const struct jit_build_id *compiler, const char *target);

/* The process's cache, whatever is looked for in it; NULL: there is none. */
struct cache *crt_code_cache(void);

#endif
