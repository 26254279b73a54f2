/* SPDX-License-Identifier: Apache-2.0
 *
 * A copy is told twice: where it begins, from when on nobody may access what it goes to, and where
 * its thread has waited for it, as a write of then.
 */
#include "cudart/core/code/race_copies.h"

#include <stdlib.h>
#include <string.h>

/* Of lanes, by one instruction, with which each is in the same group of its own. */
struct copy {
    struct crt_race_row row; /* addresses: those below */
    uint32_t group;
    uint64_t addresses[64];
};

struct crt_race_copies {
    struct copy *under_way;
    size_t count;
    size_t cap;
    uint32_t groups[RACE_WARPS_MAX * RT_WARP_SIZE]; /* that a thread has closed */
};

void crt_race_copies_begin(struct crt_running_block *running)
{
    if (!running->copies)
        return;
    running->copies->count = 0;
    memset(running->copies->groups, 0, sizeof running->copies->groups);
}

static struct crt_race_copies *copies_of(struct crt_running_block *running)
{
    if (!running->copies)
        running->copies = calloc(1, sizeof *running->copies);
    return running->copies;
}

static struct copy *make_room(struct crt_race_copies *copies)
{
    if (copies->count < copies->cap)
        return &copies->under_way[copies->count];
    size_t cap = copies->cap ? 2 * copies->cap : 16;
    struct copy *under_way = realloc(copies->under_way, cap * sizeof *under_way);
    if (!under_way)
        return NULL;
    copies->under_way = under_way;
    copies->cap = cap;
    return &under_way[copies->count];
}

static uint64_t lanes_in_group(const struct crt_race_copies *copies, uint32_t thread,
                               uint64_t lanes, uint32_t group)
{
    uint64_t in = 0;
    for (; lanes != 0; lanes &= lanes - 1)
        if (copies->groups[thread + (uint32_t)__builtin_ctzll(lanes)] == group)
            in |= lanes & -lanes;
    return in;
}

/* Without memory the copy counts as pending for ever, which no wait could end: so it is none. */
void crt_race_copies_add(struct crt_race_row *row)
{
    struct crt_race_copies *copies = copies_of(row->access.running);
    uint32_t thread = row->access.race.thread;
    for (uint64_t lanes = row->lanes, in; lanes != 0; lanes &= ~in) {
        struct copy *copy = copies ? make_room(copies) : NULL;
        if (!copy) {
            row->access.race.flags &= (uint8_t)~RACE_PENDING;
            return;
        }
        copy->row = *row;
        copy->group = copies->groups[thread + (uint32_t)__builtin_ctzll(lanes)];
        copy->row.lanes = in = lanes_in_group(copies, thread, lanes, copy->group);
        for (unsigned lane = 0; lane < 64; lane++)
            if (in >> lane & 1)
                copy->addresses[lane] = crt_race_address_of(row, lane);
        copies->count++;
    }
}

void crt_race_copies_commit(struct crt_running_block *running, uint32_t thread, uint64_t lanes)
{
    struct crt_race_copies *copies = copies_of(running);
    for (; copies && lanes != 0; lanes &= lanes - 1)
        copies->groups[thread + (uint32_t)__builtin_ctzll(lanes)]++;
}

/* The copy's lanes, of these from the one of this thread on, whose group has to have ended. */
static uint64_t lanes_to_end(const struct crt_race_copies *copies, const struct copy *copy,
                             uint32_t thread, uint64_t lanes, uint32_t but)
{
    uint64_t to_end = 0;
    for (uint64_t rest = copy->row.lanes; rest != 0; rest &= rest - 1) {
        uint32_t number = copy->row.access.race.thread + (uint32_t)__builtin_ctzll(rest);
        uint32_t lane = number - thread; /* large if it is before */
        bool waits = lane < 64 && (lanes >> lane & 1);
        if (waits && (uint64_t)copy->group + but < copies->groups[number])
            to_end |= rest & -rest;
    }
    return to_end;
}

static void end(struct crt_running_block *running, const struct copy *copy, uint64_t lanes)
{
    struct crt_race_row row = copy->row;
    row.lanes = lanes;
    row.addresses = copy->addresses;
    row.access.what = RT_ACCESS_WRITE;
    row.access.race.stamp = running->races.now;
    row.access.race.flags = RACE_WRITES | RACE_ARRIVES;
    crt_race_access_row(&row);
}

void crt_race_copies_wait(struct crt_running_block *running, uint32_t thread, uint64_t lanes,
                          uint32_t but)
{
    struct crt_race_copies *copies = running->copies;
    size_t left = 0;
    if (!copies)
        return;
    for (size_t i = 0; i < copies->count; i++) {
        struct copy *copy = &copies->under_way[i];
        uint64_t ended = lanes_to_end(copies, copy, thread, lanes, but);
        if (ended != 0)
            end(running, copy, ended);
        copy->row.lanes &= ~ended;
        if (copy->row.lanes != 0)
            copies->under_way[left++] = *copy;
    }
    copies->count = left;
}
