/* SPDX-License-Identifier: Apache-2.0
 *
 * What profiles have taught: sums and variants of all who add to a record, and nothing of what is
 * no record.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cudart/core/code/profile.h"

#define PROCESSES 12
#define ROUNDS    10

static char directory[] = "/tmp/ptxrun-profile-XXXXXX";
static struct cache *cache;
static const uint8_t digest[PTX_DIGEST_BYTES] = {1, 2, 3};

static void open_cache(void)
{
    cr_assert_not_null(mkdtemp(directory));
    cr_assert_eq(cache_open(directory, UINT64_C(1) << 30, &cache, NULL), PXR_OK);
}

static void close_cache(void)
{
    char command[64];
    cache_close(cache);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_expect_eq(system(command), 0);
}

static struct crt_profile asking_for(uint32_t width, uint64_t asked)
{
    return (struct crt_profile){
        .processes = 1,
        .quick_ns = 10,
        .price_ns = width,
        .variant_count = 1,
        .variants = {{.asked = asked,
                      .facts = {.block = {width, 1, 1},
                                .grid_max = {1024, 1, 1},
                                .has_dynamic_shared = true,
                                .dynamic_shared_bytes = 48,
                                .begins_inside = true,
                                .params = {[31] = {.max_log2 = 30, .align_log2 = 4}}}}}};
}

static const struct crt_profile_variant *find(const struct crt_profile *profile, uint32_t width)
{
    for (uint32_t i = 0; i < profile->variant_count; i++)
        if (profile->variants[i].facts.block[0] == width)
            return &profile->variants[i];
    return NULL;
}

Test(profile, comes_back_with_all_that_was_added, .init = open_cache, .fini = close_cache)
{
    struct crt_profile profile;
    const uint8_t other[PTX_DIGEST_BYTES] = {3, 2, 1};
    cr_expect_not(crt_profile_get(cache, digest, &profile));
    for (int i = 0; i < 3; i++) {
        struct crt_profile more = asking_for(i == 2 ? 64 : 128, 1);
        cr_expect(crt_profile_add(cache, digest, &more));
    }
    cr_assert(crt_profile_get(cache, digest, &profile));
    cr_expect_eq(profile.processes, 3);
    cr_expect_eq(profile.quick_ns, 10); /* since the last price */
    cr_expect_eq(profile.price_ns, 64); /* the last */
    cr_assert_eq(profile.variant_count, 2);
    struct crt_profile wanted = asking_for(128, 2);
    cr_expect_eq(profile.variants[0].asked, 2); /* the most asked for first */
    cr_expect_eq(
        memcmp(&profile.variants[0].facts, &wanted.variants[0].facts, sizeof(struct tr_facts)), 0);
    cr_expect_eq(find(&profile, 64)->asked, 1);
    cr_expect_not(crt_profile_get(cache, other, &profile));
    cr_expect_eq(profile.processes, 0);
}

Test(profile, of_no_price_keeps_the_one_before)
{
    struct crt_profile profile = asking_for(32, 1);
    crt_profile_merge(&profile, &(struct crt_profile){.quick_ns = UINT64_MAX});
    cr_expect_eq(profile.price_ns, 32);
    cr_expect_eq(profile.quick_ns, UINT64_MAX); /* without a price it adds up */
    cr_expect_eq(profile.variant_count, 1);
}

Test(profile, is_bounded_and_forgets_what_is_not_asked_for_any_more)
{
    struct crt_profile profile = {0};
    struct crt_profile often = asking_for(1, 1000);
    struct crt_profile last = asking_for(1000, 1);
    crt_profile_merge(&profile, &often);
    for (uint32_t width = 2; width <= 100; width++) {
        struct crt_profile more = asking_for(width, 1);
        crt_profile_merge(&profile, &more);
        cr_assert_leq(profile.variant_count, CRT_PROFILE_VARIANTS);
        cr_expect_not_null(find(&profile, width));
        for (uint32_t i = 1; i < profile.variant_count; i++)
            cr_assert_geq(profile.variants[i - 1].asked, profile.variants[i].asked);
    }
    cr_expect_eq(profile.variant_count, CRT_PROFILE_VARIANTS);
    for (int i = 0; i < 50; i++)
        crt_profile_merge(&profile, &last);
    cr_expect_eq(profile.variants[0].facts.block[0], 1000);
    cr_expect_eq(profile.variants[0].asked, 50);
}

/* What was added is there as often as somebody was told that it is. */
Test(profile, of_many_processes_loses_nothing, .init = open_cache, .fini = close_cache)
{
    int kept = 0;
    for (int i = 0; i < PROCESSES; i++) {
        if (fork() == 0) {
            int mine = 0;
            for (int round = 0; round < ROUNDS; round++) {
                struct crt_profile more = asking_for((uint32_t)(i % 4 + 1), 1);
                mine += crt_profile_add(cache, digest, &more);
            }
            _exit(mine);
        }
    }
    for (int status; wait(&status) > 0;) {
        cr_assert(WIFEXITED(status));
        kept += WEXITSTATUS(status);
    }
    struct crt_profile profile;
    uint64_t asked = 0;
    cr_assert(crt_profile_get(cache, digest, &profile));
    cr_expect_leq(profile.variant_count, 4);
    for (uint32_t i = 0; i < profile.variant_count; i++)
        asked += profile.variants[i].asked;
    cr_expect_eq(asked, (uint64_t)kept);
    cr_expect_eq(profile.processes, (uint64_t)kept);
    cr_expect_eq(profile.quick_ns, 10);
    cr_expect_gt(kept, 0);
}

/* ---- what is no record ---- */

static struct cache_key key_of_record(void)
{
    struct cache_hash hash;
    cache_hash_init(&hash, "profile");
    cache_hash_number(&hash, 4);
    cache_hash_bytes(&hash, digest, sizeof digest);
    return cache_hash_key(&hash);
}

Test(profile, that_makes_no_sense_is_none, .init = open_cache, .fini = close_cache)
{
    struct cache_key key = key_of_record();
    struct crt_profile more = asking_for(128, 1);
    struct crt_profile profile;
    uint8_t *bytes;
    size_t count;
    cr_assert(crt_profile_add(cache, digest, &more));
    cr_assert(cache_get(cache, &key, &bytes, &count));
    for (size_t cut = 0; cut < count; cut++) {
        cr_assert(cache_put(cache, &key, bytes, cut));
        cr_expect_not(crt_profile_get(cache, digest, &profile), "%zu bytes", cut);
    }
    for (size_t at = 0; at < count; at++) {
        uint8_t before = bytes[at];
        bytes[at] ^= 0xff;
        cr_assert(cache_put(cache, &key, bytes, count));
        if (crt_profile_get(cache, digest, &profile)) {
            const struct tr_facts *facts = &profile.variants[0].facts;
            cr_expect_leq(profile.variant_count, CRT_PROFILE_VARIANTS);
            cr_expect_leq(facts->block[0], TR_BLOCK_MAX_THREADS);
            cr_expect_leq(facts->grid_max[1], TR_GRID_MAX_YZ);
            cr_expect_leq(facts->params[31].is_distinct, 1);
        }
        bytes[at] = before;
    }
    /* The next one begins anew. */
    cr_assert(cache_put(cache, &key, bytes, 3));
    cr_expect(crt_profile_add(cache, digest, &more));
    cr_expect(crt_profile_get(cache, digest, &profile));
    cr_expect_eq(profile.processes, 1);
    free(bytes);
}
