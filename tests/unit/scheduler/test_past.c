/* SPDX-License-Identifier: Apache-2.0
 *
 * What operations come after, against sets of all operations: whatever has finished by chance, only
 * dependencies and waits of the host count.
 */
#include <string.h>

#include "support.h"

enum { OPS = 120, SEEDS = 20 };

struct step {
    struct sch_op *op;
    struct sch_moment moment;
    bool after[OPS];   /* the oracle's answer … */
    bool follows[OPS]; /* … and what it said itself, of those that … */
    bool asked[OPS];   /* … had finished */
};

static struct step steps[OPS];
static bool host[OPS];                /* what the host has waited for, and what that came after */
static struct sch_moment doings[OPS]; /* what the host did itself before each step */

static void look(void *arg)
{
    struct step *step = arg;
    step->moment = sch_op_moment(sch_running_task());
    for (struct step *other = steps; other < step; other++)
        if (sch_op_is_done(other->op)) {
            step->asked[other - steps] = true;
            step->follows[other - steps] = sch_op_follows(sch_running_task(), other->moment);
        }
}

static unsigned random_below(unsigned *state, unsigned n)
{
    *state = *state * 1103515245 + 12345;
    return (*state >> 16) % n;
}

static void learn(bool *set, size_t index)
{
    set[index] = true;
    for (size_t i = 0; i < index; i++)
        set[i] = set[i] || steps[index].after[i];
}

/* Of what has finished the host knows what it has waited for. */
static bool host_is_right(size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (sch_op_is_done(steps[i].op) && sch_host_follows(steps[i].moment) != host[i])
            return false;
    return true;
}

/* Waits for some earlier operations, and the host for one now and then. */
static void add_step(size_t index, unsigned *state)
{
    struct step *step = &steps[index];
    doings[index] = sch_host_moment();
    cr_assert(host_is_right(index));
    *step = (struct step){.op = sch_op_task(look, NULL, step)};
    memcpy(step->after, host, sizeof host);
    for (unsigned n = random_below(state, 3); index > 0 && n > 0; n--) {
        size_t dep = index - 1 - random_below(state, index < 8 ? (unsigned)index : 8);
        cr_assert_eq(sch_op_depend(step->op, steps[dep].op), PXR_OK);
        learn(step->after, dep);
    }
    sch_op_submit(step->op);
    if (random_below(state, 6) == 0) {
        sch_op_wait(step->op);
        learn(host, index);
    }
}

/* The first one of which something else was said than is so; OPS: there is none. */
static size_t find_wrong(void)
{
    for (size_t i = 0; i < OPS; i++)
        sch_op_wait(steps[i].op);
    for (size_t i = 0; i < OPS; i++)
        for (size_t j = 0; j < i; j++)
            if (steps[i].asked[j] ? steps[i].follows[j] != steps[i].after[j] : steps[i].after[j])
                return i;
    for (size_t i = 0; i < OPS; i++)
        for (size_t j = 0; j < OPS; j++)
            if (sch_op_follows(steps[i].op, doings[j]) != (j <= i))
                return i;
    return OPS;
}

Test(past, dependencies_and_waits_count_and_nothing_else)
{
    sch_keep_pasts();
    cr_assert_eq(sch_start(2, NULL), PXR_OK);
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        unsigned state = seed;
        memset(host, 0, sizeof host);
        for (size_t i = 0; i < OPS; i++)
            add_step(i, &state);
        cr_assert_eq(find_wrong(), OPS, "seed %u", seed);
        cr_assert(sch_host_follows_all());
        for (size_t i = 0; i < OPS; i++)
            sch_op_release(steps[i].op);
    }
}
