/* SPDX-License-Identifier: Apache-2.0
 *
 * See summary.h. The parser decides what an outline says, so the build id of the library that it is
 * part of is in the key.
 */
#include "cudart/core/code/summary.h"

#include <stdlib.h>
#include <string.h>

#include "cache/cache.h"
#include "cudart/core/base/stats.h"
#include "cudart/core/code/code_cache.h"
#include "cudart/core/code/tally.h"
#include "jit/build_id.h"
#include "util/log.h"

static const char strangeness[] = "strangeness"; /* for pxr_log_once */

static void add_bytes(void *hash, const void *bytes, size_t count)
{
    cache_hash_bytes(hash, bytes, count);
}

enum pxr_status crt_kernel_digest(const struct ptx_module *module, const struct ptx_func *kernel,
                                  const struct ptx_kernel_layout *layout,
                                  uint8_t digest[PTX_DIGEST_BYTES], struct pxr_error *err)
{
    _Static_assert(CACHE_KEY_BYTES == PTX_DIGEST_BYTES, "a digest is a key without its purpose");
    struct cache_hash hash;
    cache_hash_init(&hash, "kernel");
    enum pxr_status status = ptx_fingerprint(module, kernel, layout, add_bytes, &hash, err);
    if (status != PXR_OK)
        return status;
    struct cache_key key = cache_hash_key(&hash);
    memcpy(digest, key.bytes, PTX_DIGEST_BYTES);
    return PXR_OK;
}

bool crt_summary_key(const struct ptx_source *source, struct cache_key *key)
{
    struct jit_build_id library;
    if (!jit_build_id_of_address(strangeness, &library))
        return false;
    struct cache_hash hash;
    cache_hash_init(&hash, "summary");
    cache_hash_number(&hash, PTX_OUTLINE_FORMAT);
    cache_hash_bytes(&hash, library.bytes, library.count);
    ptx_source_identify(source, add_bytes, &hash);
    *key = cache_hash_key(&hash);
    return true;
}

static bool read_summary(struct cache *cache, const struct cache_key *key,
                         struct ptx_outline **outline)
{
    uint8_t *bytes;
    size_t count;
    if (!cache_get(cache, key, &bytes, &count))
        return false;
    if (ptx_outline_read(bytes, count, outline))
        return true;
    free(bytes);
    pxr_log_once(strangeness, "a summary of a module in the cache is not used: it makes no sense");
    return false;
}

/* Parses. What is kept is what this process goes on with, so that the next one does the same. */
static enum pxr_status make_summary(const struct ptx_source *source, const char *name,
                                    struct cache *cache, const struct cache_key *key,
                                    struct ptx_outline **outline, struct ptx_module **module,
                                    struct pxr_error *err)
{
    uint8_t *bytes;
    size_t count;
    enum pxr_status status = ptx_source_parse(source, module, err);
    if (status != PXR_OK)
        return status;
    status =
        ptx_outline_write(*module, name, cache ? crt_kernel_digest : NULL, &bytes, &count, err);
    if (status == PXR_OK && cache)
        cache_put_about(cache, key, &(struct cache_about){.kind = "summary", .name = name}, bytes,
                        count);
    if (status == PXR_OK && !ptx_outline_read(bytes, count, outline)) {
        free(bytes);
        status = pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for the outline of a module");
    }
    if (status != PXR_OK) {
        ptx_module_destroy(*module);
        *module = NULL;
    }
    return status;
}

enum pxr_status crt_summary_find(const struct ptx_source *source, const char *name,
                                 struct ptx_outline **outline, struct ptx_module **module,
                                 struct pxr_error *err)
{
    struct cache_key key;
    struct cache *cache = ptx_source_has_ptx(source) ? crt_code_cache() : NULL;
    if (cache && !crt_summary_key(source, &key))
        cache = NULL;
    *module = NULL;
    bool is_hit = cache && read_summary(cache, &key, outline);
    if (cache) {
        crt_stats_summary(is_hit);
        crt_tally_look(CACHE_KIND_SUMMARY, is_hit);
    }
    return is_hit ? PXR_OK : make_summary(source, name, cache, &key, outline, module, err);
}
