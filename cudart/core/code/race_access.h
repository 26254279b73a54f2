/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses of threads on their way from what code calls (race_calls.c) to the words that they
 * access (race_access.c), and to findings (race_report.c).
 */
#ifndef PTXRUN_CUDART_CORE_CODE_RACE_ACCESS_H
#define PTXRUN_CUDART_CORE_CODE_RACE_ACCESS_H

#include "cudart/core/code/race_memory.h"
#include "cudart/core/code/running_block.h"
#include "cudart/core/races/cells.h"

/* Of a thread. */
struct crt_race_access {
    const struct rt_thread *thread;
    struct crt_running_block *running;
    struct crt_running_block *owner; /* of the shared memory; NULL: it is global */
    struct race_access race;
    uint64_t address;
    uint64_t bytes;
    uint64_t value;
    uint32_t what;
};

/* Of lanes whose threads follow each other; a bit for each. */
struct crt_race_row {
    struct crt_race_access access; /* what they have in common; thread: lane 0's */
    uint64_t lanes;
    uint64_t stride;
    const uint64_t *addresses; /* by lane; NULL: by the first one's and the stride */
    const char *values;        /* by lane, each of as many bytes; NULL: not known */
    bool is_known_unsettled;   /* in global memory, what lanes that go apart access */
    bool is_alone;             /* one lane, not one of several that go apart */
};

void crt_race_access_row(struct crt_race_row *row);

/* Of lanes, by lane: so many accesses, in steps of so many bytes, which wrap as rt_race_loop says.
 * row.addresses: of the last ones, as row's line; no values. */
struct crt_race_loop {
    struct crt_race_row row;
    const uint64_t *steps;
    const uint64_t *turns;
    const uint64_t *floors;
    uint64_t period;
    int32_t lines; /* of the PTX, by which each access is behind the one before */
};

void crt_race_access_loop(struct crt_race_loop *loop);

/* ---- parts of that (race_access.c) ---- */

/* A lane word by word, of what is not locked. */
void crt_race_access_alone(const struct crt_race_row *row, unsigned lane);
struct crt_race_access crt_race_access_of(const struct crt_race_row *row, unsigned lane);
uint64_t crt_race_address_of(const struct crt_race_row *row, unsigned lane);
uint64_t crt_race_value_of(const struct crt_race_row *row, unsigned lane);

/* Finds whose memory it is, and where in it. False: a thread's own, or memory that nobody checks
 * here: the host's. */
bool crt_race_find_memory(struct crt_race_access *access, uint64_t address, uint64_t bytes,
                          uint64_t *place);
/* The copy or fill of all of a page with which the access to it races; 0: none. */
uint32_t crt_race_find_page_race(const struct crt_race_access *access, uint64_t place,
                                 uint64_t bytes, struct race_access *found);
/* The strip of a word of shared memory; what another block has done there is forgotten. */
struct race_strip *crt_race_enter_shared(const struct crt_running_block *owner, uint64_t word);
/* Bytes of the word in which they begin, a bit for each. */
uint8_t crt_race_bytes_in_word(uint64_t bytes, uint64_t place);
/* What is done in a word that is locked, unless it races, or may. */
bool crt_race_take_word(const struct crt_race_access *access, const struct race_shadow *shadow,
                        uint64_t word, const struct race_access *race);
/* The access to words that are not locked, in its memory; a finding where it races. */
void crt_race_check_words(struct crt_race_access *access, uint64_t place);

/* What is known of the memory of which it is. */
static inline const struct race_shadow *crt_race_shadow_of(const struct crt_race_access *access)
{
    return access->owner ? &access->owner->shadow : crt_race_shadow();
}

/* ---- words that need not be told of reads (race_settled.c) ---- */

/* Whether lanes from this thread on need not tell that they read these bytes of global memory. */
bool crt_race_is_settled(const struct crt_running_block *running, const struct rt_thread *thread,
                         uint64_t lanes, uint64_t address, uint64_t bytes, uint32_t what);
/* For whom what the lanes access may have been settled. */
struct race_settling crt_race_settling(const struct crt_race_row *row);
/* Whether all words with bytes of [begin, end) are settled for lanes of this warp. */
bool crt_race_are_settled(const struct race_shadow *shadow, const struct race_settling *settling,
                          uint32_t warp, uint64_t begin, uint64_t end);
/* Behind an access to the word, which stands in its cell. */
void crt_race_settle_cell(const struct crt_race_access *access, uint64_t word);

/* ---- findings (race_report.c) ---- */

/* Another access of its launch races with it; one of another work. */
void crt_race_add_finding(const struct crt_race_access *access, const struct race_access *other);
void crt_race_add_stream_finding(const struct crt_race_access *access, uint32_t work,
                                 const struct race_access *other);

#endif
