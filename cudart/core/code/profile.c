/* SPDX-License-Identifier: Apache-2.0
 *
 * See profile.h. A record is five numbers of 64 bits, and for each variant one of these, nine of
 * 32 bits and three bytes for each parameter; numbers have their lowest byte first.
 */
#include "cudart/core/code/profile.h"

#include <stdlib.h>
#include <string.h>

#include "jit/facts.h"
#include "kernel_abi/image_shape.h"

/* Of the record; part of the key as well. */
#define FORMAT        UINT64_C(4)

#define HEAD_BYTES    (5 * sizeof(uint64_t))
#define VARIANT_BYTES (sizeof(uint64_t) + 10 * sizeof(uint32_t) + TR_FACTS_PARAMS * (size_t)5)
#define RECORD_BYTES  (HEAD_BYTES + CRT_PROFILE_VARIANTS * VARIANT_BYTES)

/* For others that add to the same record; whoever waits in vain goes without. */
#define PATIENCE_MS 1

static struct cache_key key_of(const uint8_t digest[PTX_DIGEST_BYTES])
{
    struct cache_hash hash;
    cache_hash_init(&hash, "profile");
    cache_hash_number(&hash, FORMAT);
    cache_hash_bytes(&hash, digest, PTX_DIGEST_BYTES);
    return cache_hash_key(&hash);
}

/* ---- bytes ---- */

static uint8_t *put_number(uint8_t *at, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(number >> 8 * i);
    return at + bytes;
}

static uint64_t get_number(const uint8_t **at, size_t bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++)
        number |= (uint64_t)(*at)[i] << 8 * i;
    *at += bytes;
    return number;
}

static uint8_t *put_variant(uint8_t *at, const struct crt_profile_variant *variant)
{
    const struct tr_facts *facts = &variant->facts;
    at = put_number(at, variant->asked, 8);
    for (int d = 0; d < 3; d++) {
        at = put_number(at, facts->block[d], 4);
        at = put_number(at, facts->grid_max[d], 4);
    }
    at = put_number(at, facts->has_whole_warps, 4);
    at = put_number(at, facts->has_dynamic_shared, 4);
    at = put_number(at, facts->dynamic_shared_bytes, 4);
    at = put_number(at, facts->begins_inside, 4);
    for (uint32_t i = 0; i < TR_FACTS_PARAMS; i++) {
        *at++ = facts->params[i].max_log2;
        *at++ = facts->params[i].align_log2;
        *at++ = facts->params[i].is_distinct;
        at = put_number(at, facts->params[i].image_shape, 2);
    }
    return at;
}

/* Whether a launch can have such facts: who compiles relies on their limits. */
static bool are_possible(const struct tr_facts *facts)
{
    uint64_t threads = 1;
    for (int d = 0; d < 3; d++)
        threads *= facts->block[d] ? facts->block[d] : 1;
    bool is_possible =
        facts->block[0] <= TR_BLOCK_MAX_THREADS && facts->block[1] <= TR_BLOCK_MAX_THREADS &&
        facts->block[2] <= TR_BLOCK_MAX_Z && threads <= TR_BLOCK_MAX_THREADS &&
        facts->grid_max[0] <= TR_GRID_MAX_X && facts->grid_max[1] <= TR_GRID_MAX_YZ &&
        facts->grid_max[2] <= TR_GRID_MAX_YZ && (facts->block[0] == 0 || !facts->has_whole_warps) &&
        (facts->has_dynamic_shared || facts->dynamic_shared_bytes == 0);
    for (uint32_t i = 0; i < TR_FACTS_PARAMS; i++) {
        const struct tr_param_fact *param = &facts->params[i];
        is_possible = is_possible && param->max_log2 < 64 && param->align_log2 < 64 &&
                      param->is_distinct <= 1 &&
                      (param->image_shape == 0 || rt_is_shape(param->image_shape));
    }
    return is_possible;
}

static bool get_variant(const uint8_t **at, struct crt_profile_variant *variant)
{
    struct tr_facts *facts = &variant->facts;
    variant->asked = get_number(at, 8);
    for (int d = 0; d < 3; d++) {
        facts->block[d] = (uint32_t)get_number(at, 4);
        facts->grid_max[d] = (uint32_t)get_number(at, 4);
    }
    facts->has_whole_warps = get_number(at, 4) != 0;
    facts->has_dynamic_shared = get_number(at, 4) != 0;
    facts->dynamic_shared_bytes = (uint32_t)get_number(at, 4);
    facts->begins_inside = get_number(at, 4) != 0;
    for (uint32_t i = 0; i < TR_FACTS_PARAMS; i++) {
        facts->params[i].max_log2 = (uint8_t)get_number(at, 1);
        facts->params[i].align_log2 = (uint8_t)get_number(at, 1);
        facts->params[i].is_distinct = (uint8_t)get_number(at, 1);
        facts->params[i].image_shape = (uint16_t)get_number(at, 2);
    }
    return are_possible(facts);
}

static size_t to_bytes(const struct crt_profile *profile, uint8_t bytes[RECORD_BYTES])
{
    uint8_t *at = put_number(bytes, FORMAT, 8);
    at = put_number(at, profile->processes, 8);
    at = put_number(at, profile->quick_ns, 8);
    at = put_number(at, profile->price_ns, 8);
    at = put_number(at, profile->variant_count, 8);
    for (uint32_t i = 0; i < profile->variant_count; i++)
        at = put_variant(at, &profile->variants[i]);
    return (size_t)(at - bytes);
}

static bool from_bytes(const uint8_t *bytes, size_t count, struct crt_profile *profile)
{
    const uint8_t *at = bytes;
    if (count < HEAD_BYTES || get_number(&at, 8) != FORMAT)
        return false;
    profile->processes = get_number(&at, 8);
    profile->quick_ns = get_number(&at, 8);
    profile->price_ns = get_number(&at, 8);
    uint64_t variants = get_number(&at, 8);
    if (variants > CRT_PROFILE_VARIANTS || count != HEAD_BYTES + variants * VARIANT_BYTES)
        return false;
    profile->variant_count = (uint32_t)variants;
    for (uint32_t i = 0; i < variants; i++)
        if (!get_variant(&at, &profile->variants[i]))
            return false;
    return true;
}

/* ---- merging ---- */

static void add(uint64_t *count, uint64_t more)
{
    if (__builtin_add_overflow(*count, more, count))
        *count = UINT64_MAX;
}

/* The newcomer takes the last place, of those asked for least; all lose half of their weight, so
 * that what is not asked for any more goes in the end. */
static void make_room(struct crt_profile *profile)
{
    for (uint32_t i = 0; i < profile->variant_count; i++)
        profile->variants[i].asked /= 2;
    profile->variant_count--;
}

static void add_variant(struct crt_profile *profile, const struct crt_profile_variant *more)
{
    uint32_t at = 0;
    while (at < profile->variant_count &&
           !jit_facts_equal(&profile->variants[at].facts, &more->facts))
        at++;
    if (at == CRT_PROFILE_VARIANTS) {
        make_room(profile);
        at--;
    }
    struct crt_profile_variant changed = *more;
    if (at < profile->variant_count)
        add(&changed.asked, profile->variants[at].asked);
    else
        profile->variant_count++;
    for (; at > 0 && profile->variants[at - 1].asked < changed.asked; at--)
        profile->variants[at] = profile->variants[at - 1];
    profile->variants[at] = changed;
}

void crt_profile_merge(struct crt_profile *profile, const struct crt_profile *more)
{
    add(&profile->processes, more->processes);
    if (more->price_ns) {
        profile->price_ns = more->price_ns;
        profile->quick_ns = 0;
    }
    add(&profile->quick_ns, more->quick_ns);
    for (uint32_t i = 0; i < more->variant_count; i++)
        add_variant(profile, &more->variants[i]);
}

/* ---- in the cache ---- */

bool crt_profile_get(struct cache *cache, const uint8_t digest[PTX_DIGEST_BYTES],
                     struct crt_profile *profile)
{
    struct cache_key key = key_of(digest);
    uint8_t *bytes;
    size_t count;
    *profile = (struct crt_profile){0};
    if (!cache_get(cache, &key, &bytes, &count))
        return false;
    bool is_known = from_bytes(bytes, count, profile);
    free(bytes);
    if (!is_known)
        *profile = (struct crt_profile){0};
    return is_known;
}

bool crt_profile_add(struct cache *cache, const uint8_t digest[PTX_DIGEST_BYTES],
                     const struct crt_profile *more)
{
    struct cache_key key = key_of(digest);
    struct cache_claim claim;
    struct crt_profile profile;
    uint8_t bytes[RECORD_BYTES];
    /* Whoever made the record meanwhile has let go of it by now. */
    enum cache_claim_result result = cache_claim(cache, &key, PATIENCE_MS, &claim);
    if (result == CACHE_CLAIM_PRESENT)
        result = cache_claim(cache, &key, PATIENCE_MS, &claim);
    if (result != CACHE_CLAIM_HELD)
        return false;
    crt_profile_get(cache, digest, &profile);
    crt_profile_merge(&profile, more);
    const struct cache_about about = {.kind = "profile"};
    bool is_kept = cache_put_about(cache, &key, &about, bytes, to_bytes(&profile, bytes));
    cache_release(&claim);
    return is_kept;
}
