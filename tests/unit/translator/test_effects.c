/* SPDX-License-Identifier: Apache-2.0
 *
 * What translator/barriers/effects.c says of two addresses is true of all pairs of threads: tried
 * out.
 */
#include "translator/barriers/effects.h"

#include <stdlib.h>

#include <criterion/criterion.h>

#define TRIES 40000

static uint64_t state = 7;

static uint32_t pick(uint32_t count)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % count;
}

struct pair {
    struct tr_access accesses[2];
    uint32_t low[2][3];
    uint32_t high[2][3];
};

static int64_t begin(const struct tr_access *access, const uint32_t tid[3])
{
    int64_t at = (int32_t)access->address.offset;
    for (int d = 0; d < 3; d++)
        at += (int64_t)(int32_t)access->address.tid[d] * tid[d];
    return at;
}

static bool is_next(uint32_t tid[3], const uint32_t low[3], const uint32_t high[3])
{
    for (int d = 0; d < 3; d++) {
        if (tid[d]++ < high[d])
            return true;
        tid[d] = low[d];
    }
    return false;
}

static bool is_same(const uint32_t a[3], const uint32_t b[3])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* Whether two threads touch the same byte; with is_own, a thread and itself. */
static bool do_meet(const struct pair *pair, bool is_own)
{
    const struct tr_access *a = &pair->accesses[0];
    const struct tr_access *b = &pair->accesses[1];
    uint32_t i[3] = {pair->low[0][0], pair->low[0][1], pair->low[0][2]};
    do {
        uint32_t j[3] = {pair->low[1][0], pair->low[1][1], pair->low[1][2]};
        do {
            int64_t by = begin(b, j) - begin(a, i);
            if (is_same(i, j) == is_own && by < a->size_bytes && by > -(int64_t)b->size_bytes)
                return true;
        } while (is_next(j, pair->low[1], pair->high[1]));
    } while (is_next(i, pair->low[0], pair->high[0]));
    return false;
}

/* Mostly the forms that kernels have: elements of rows of some pitch. */
static void make_pair(struct pair *pair)
{
    static const uint32_t sizes[] = {1, 2, 4, 8};
    uint32_t block[3] = {1 + pick(6), 1 + pick(4), 1 + pick(3)};
    uint32_t strides[3];
    uint32_t pitch = sizes[pick(4)];
    for (int d = 0; d < 3; d++) {
        strides[d] = pick(6) == 0 ? pick(16) - 4 : pitch;
        pitch *= block[d] + (pick(4) == 0 ? pick(3) - 1 : 0);
    }
    for (int side = 0; side < 2; side++) {
        struct tr_access *access = &pair->accesses[side];
        *access = (struct tr_access){.segment = (uint32_t)side,
                                     .is_write = true,
                                     .origins = TR_ORIGIN_SHARED,
                                     .size_bytes = sizes[pick(4)],
                                     .address = {.is_known = true}};
        access->address.offset = pick(3) == 0 ? pick(64) - 16 : 0;
        for (int d = 0; d < 3; d++) {
            access->address.tid[d] = pick(12) == 0 ? pick(16) : strides[d];
            pair->low[side][d] = pick(4) == 0 ? pick(block[d]) : 0;
            pair->high[side][d] = block[d] - 1;
            if (pick(4) == 0)
                pair->high[side][d] = pair->low[side][d] + pick(block[d] - pair->low[side][d]);
        }
    }
}

Test(effects, accesses_said_to_be_apart_are_apart)
{
    uint32_t apart = 0;
    uint32_t own_apart = 0;
    for (int i = 0; i < TRIES; i++) {
        struct pair pair;
        make_pair(&pair);
        const struct tr_effects effects = {.tid_low = pair.low, .tid_high = pair.high};
        const struct tr_access *a = &pair.accesses[0];
        const struct tr_access *b = &pair.accesses[1];
        cr_expect_eq(tr_may_meet(&effects, a, b), tr_may_meet(&effects, b, a));
        if (!tr_may_meet(&effects, a, b)) {
            apart++;
            cr_expect_not(do_meet(&pair, false), "try %d", i);
        }
        if (!tr_may_overlap(&effects, a, b, false)) {
            own_apart++;
            cr_expect_not(do_meet(&pair, true), "try %d", i);
        }
    }
    cr_expect_gt(apart, TRIES / 20, "%u", apart);
    cr_expect_gt(own_apart, TRIES / 20, "%u", own_apart);
}

Test(effects, whoever_says_same_place_means_all_bytes)
{
    for (int i = 0; i < TRIES; i++) {
        struct pair pair;
        make_pair(&pair);
        const struct tr_access *a = &pair.accesses[0];
        const struct tr_access *b = &pair.accesses[1];
        /* No pointers: the addresses alone must tell. */
        static int places[2];
        pair.accesses[0].pointer = (LLVMValueRef)&places[0];
        pair.accesses[1].pointer = (LLVMValueRef)&places[1];
        uint32_t tid[3] = {pick(9), pick(9), pick(9)};
        if (tr_is_same_place(a, b))
            cr_expect(begin(a, tid) == begin(b, tid) && a->size_bytes == b->size_bytes);
    }
}
