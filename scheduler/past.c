/* SPDX-License-Identifier: Apache-2.0
 *
 * Pasts of operations: vector clocks over chains. In a chain each operation comes after the one
 * before it; an operation goes on with a chain whose last one is in its past, or else begins
 * another, so there are as many chains as operations were ever side by side. One lock guards all
 * of it: this is for checks.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/host_watch.h"
#include "scheduler/worker_pool.h"

struct sch_past {
    struct sch_moment own; /* chain 0: none yet */
    bool is_nested;
    bool has_all;             /* memory was short, or nobody knows: after whatever else there is */
    struct sch_moment *known; /* by chain; all up to these */
    uint32_t count;
    uint32_t cap;
};

static struct {
    atomic_bool are_kept;
    pthread_mutex_t lock; /* of what follows, and of all pasts */
    uint32_t *last;       /* number in each chain; the first has index 1 */
    uint32_t chains;
    uint32_t cap;
    struct sch_past host; /* what the host has seen finished, and done itself */
    uint64_t unfinished;  /* operations that have been submitted */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sch_keep_pasts(void)
{
    atomic_store(&all.are_kept, true);
}

bool sch_pasts_are_kept(void)
{
    return atomic_load_explicit(&all.are_kept, memory_order_relaxed);
}

/* ---- clocks; with the lock ---- */

static uint32_t place_of(const struct sch_past *past, uint32_t chain)
{
    uint32_t low = 0;
    uint32_t high = past->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (past->known[middle].chain < chain)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has(const struct sch_past *past, struct sch_moment moment)
{
    uint32_t place = place_of(past, moment.chain);
    return past->has_all || (place < past->count && past->known[place].chain == moment.chain &&
                             past->known[place].number >= moment.number);
}

static bool make_room(struct sch_past *past)
{
    if (past->count < past->cap)
        return true;
    uint32_t cap = past->cap ? 2 * past->cap : 4;
    struct sch_moment *known = realloc(past->known, cap * sizeof *known);
    if (!known)
        return false;
    past->known = known;
    past->cap = cap;
    return true;
}

static void add(struct sch_past *past, struct sch_moment moment)
{
    uint32_t place = place_of(past, moment.chain);
    if (moment.chain == 0)
        return;
    if (place < past->count && past->known[place].chain == moment.chain) {
        if (past->known[place].number < moment.number)
            past->known[place].number = moment.number;
        return;
    }
    if (!make_room(past)) {
        past->has_all = true;
        return;
    }
    memmove(&past->known[place + 1], &past->known[place],
            (past->count - place) * sizeof *past->known);
    past->known[place] = moment;
    past->count++;
}

static void join(struct sch_past *past, const struct sch_past *other)
{
    past->has_all |= other->has_all;
    for (uint32_t i = 0; i < other->count; i++)
        add(past, other->known[i]);
    add(past, other->own);
}

static void join_all(struct sch_past *past)
{
    for (uint32_t chain = 1; chain <= all.chains; chain++)
        add(past, (struct sch_moment){chain, all.last[chain]});
}

static struct sch_past *past_of(struct sch_op *op)
{
    if (!op->past)
        op->past = calloc(1, sizeof *op->past);
    return op->past;
}

/* ---- moments ---- */

static uint32_t begin_chain(void)
{
    if (all.chains + 1 >= all.cap) {
        uint32_t cap = all.cap ? 2 * all.cap : 64;
        uint32_t *last = realloc(all.last, cap * sizeof *last);
        if (!last)
            return 0;
        all.last = last;
        all.cap = cap;
    }
    all.last[++all.chains] = 0;
    return all.chains;
}

static uint32_t find_chain(const struct sch_past *past)
{
    for (uint32_t i = 0; i < past->count; i++)
        if (all.last[past->known[i].chain] == past->known[i].number)
            return past->known[i].chain;
    return begin_chain();
}

struct sch_moment sch_op_moment(struct sch_op *op)
{
    pthread_mutex_lock(&all.lock);
    struct sch_past *past = past_of(op);
    if (past && past->own.chain == 0 && !past->is_nested) {
        uint32_t chain = find_chain(past);
        if (chain != 0)
            past->own = (struct sch_moment){chain, ++all.last[chain]};
    }
    struct sch_moment moment = past ? past->own : (struct sch_moment){0};
    pthread_mutex_unlock(&all.lock);
    return moment;
}

static bool host_has(struct sch_moment moment)
{
    return moment.chain == 0 || has(&all.host, moment);
}

struct sch_moment sch_host_moment(void)
{
    pthread_mutex_lock(&all.lock);
    uint32_t chain = find_chain(&all.host);
    struct sch_moment moment = {0};
    if (chain != 0)
        moment = (struct sch_moment){chain, ++all.last[chain]};
    add(&all.host, moment);
    pthread_mutex_unlock(&all.lock);
    return moment;
}

bool sch_host_follows(struct sch_moment moment)
{
    pthread_mutex_lock(&all.lock);
    bool follows = host_has(moment);
    pthread_mutex_unlock(&all.lock);
    return follows;
}

bool sch_host_follows_all(void)
{
    pthread_mutex_lock(&all.lock);
    bool follows = all.unfinished == 0;
    for (uint32_t chain = 1; chain <= all.chains && follows; chain++)
        follows = host_has((struct sch_moment){chain, all.last[chain]});
    pthread_mutex_unlock(&all.lock);
    return follows;
}

void sch_host_learn_moment(struct sch_moment moment)
{
    pthread_mutex_lock(&all.lock);
    add(&all.host, moment);
    pthread_mutex_unlock(&all.lock);
}

bool sch_op_follows(struct sch_op *op, struct sch_moment moment)
{
    pthread_mutex_lock(&all.lock);
    bool follows =
        moment.chain == 0 || !op->past || has(op->past, moment) || op->past->own.chain == 0;
    pthread_mutex_unlock(&all.lock);
    return follows;
}

/* ---- what operations and the host learn ---- */

void sch_past_depend(struct sch_op *op, struct sch_op *dep)
{
    if (!sch_pasts_are_kept())
        return;
    pthread_mutex_lock(&all.lock);
    struct sch_past *past = past_of(op);
    if (past && dep->past)
        join(past, dep->past);
    pthread_mutex_unlock(&all.lock);
}

void sch_past_submit(struct sch_op *op, bool is_nested)
{
    if (!is_nested)
        sch_host_submits();
    pthread_mutex_lock(&all.lock);
    all.unfinished++;
    struct sch_past *past = past_of(op);
    if (past && is_nested) {
        past->is_nested = true;
        join_all(past);
    } else if (past) {
        join(past, &all.host);
    }
    pthread_mutex_unlock(&all.lock);
}

void sch_past_finish(void)
{
    if (!sch_pasts_are_kept())
        return;
    pthread_mutex_lock(&all.lock);
    all.unfinished--;
    pthread_mutex_unlock(&all.lock);
}

void sch_op_follow_all(struct sch_op *op)
{
    if (!sch_pasts_are_kept())
        return;
    pthread_mutex_lock(&all.lock);
    struct sch_past *past = past_of(op);
    if (past)
        join_all(past);
    pthread_mutex_unlock(&all.lock);
}

void sch_host_learn(const struct sch_op *op)
{
    if (!sch_pasts_are_kept() || !op)
        return;
    pthread_mutex_lock(&all.lock);
    if (op->past)
        join(&all.host, op->past);
    pthread_mutex_unlock(&all.lock);
}

void sch_past_free(struct sch_past *past)
{
    if (past)
        free(past->known);
    free(past);
}
