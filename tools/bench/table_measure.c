/* SPDX-License-Identifier: Apache-2.0
 *
 * Verifies and times a row: every version computes it once from the same data and is compared with
 * plain C of the project's compiler; then all of them run in turn, so that a slow moment of the
 * machine meets all.
 */
#include "tools/bench/table_measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/bench/table_plain.h"

#define SAMPLE_US        1000.0  /* a sample is as many runs as take this long … */
#define MAX_SAMPLE_COUNT 1000    /* … but no more than these */
#define WARM_BELOW_US    20000.0 /* shorter runs are preceded by one that is not timed */
#define ESTIMATES        6       /* of how long such a run takes, at most */
#define BUDGET_US        2e6     /* for all samples of a version */
#define MIN_ROUNDS       3
#define SLOW_RATIO       20.0 /* so much slower than the fastest version … */
#define SLOW_US          1e5  /* … and so slow: MIN_ROUNDS must do */

/* Between samples of different versions: both kinds of threads have gone to sleep after it. */
#define PAUSE_US 2500

static const char *const version_names[TABLE_VERSIONS] = {"ptxrun",
                                                          "ptxrun in the other mode",
                                                          "ptxrun, quick tier",
                                                          "ptxrun, flat",
                                                          "ptxrun, hierarchical",
                                                          "ptxrun, vector",
                                                          "plain C, project's compiler",
                                                          "plain C, gcc",
                                                          "tuned C, project's compiler",
                                                          "tuned C, gcc"};

struct subject {
    const struct table_row *row;
    struct table_args args;
    struct table_run *runs[TABLE_PLAIN];  /* NULL: not wished */
    table_plain_fn plain[TABLE_VERSIONS]; /* NULL: ours, or not there */
    void *first[TABLE_MAX_BUFFERS];       /* of INOUT buffers: what was in them */
    void *expected[TABLE_MAX_BUFFERS];    /* of OUT and INOUT buffers; NULL after verifying */
};

/* ---- data ---- */

static bool is_output(const struct table_buffer *buffer)
{
    return buffer->role == TABLE_OUT || buffer->role == TABLE_INOUT;
}

static void subject_init(struct subject *subject, const struct table_row *row, int threads)
{
    memset(subject, 0, sizeof *subject);
    subject->row = row;
    struct table_args *args = &subject->args;
    memcpy(args->n, row->n, sizeof row->n);
    memcpy(args->scalar, row->scalar, sizeof row->scalar);
    args->threads = threads;
    for (unsigned i = 0; i < TABLE_MAX_BUFFERS && row->buffers[i].role != TABLE_NONE; i++) {
        const struct table_buffer *buffer = &row->buffers[i];
        args->buffer[i] = bench_array(buffer->bytes);
        if (buffer->role == TABLE_IN || buffer->role == TABLE_INOUT)
            bench_fill(args->buffer[i], buffer->element, buffer->bytes, 0x9e3779b9u * (i + 1));
    }
    if (row->fill)
        row->fill(args);
    for (int i = 0; i < TABLE_COMPILERS; i++) {
        subject->plain[TABLE_PLAIN + i] = table_plain_find(row->plain, (enum table_compiler)i);
        subject->plain[TABLE_TUNED + i] = table_plain_find(row->tuned, (enum table_compiler)i);
    }
    for (unsigned i = 0; i < TABLE_MAX_BUFFERS; i++) {
        const struct table_buffer *buffer = &row->buffers[i];
        if (buffer->role == TABLE_INOUT) {
            subject->first[i] = bench_array(buffer->bytes);
            memcpy(subject->first[i], args->buffer[i], buffer->bytes);
        }
        if (is_output(buffer))
            subject->expected[i] = bench_array(buffer->bytes);
    }
}

static void subject_fini(struct subject *subject)
{
    for (int i = 0; i < TABLE_PLAIN; i++)
        if (subject->runs[i])
            table_run_close(subject->runs[i]);
    for (unsigned i = 0; i < TABLE_MAX_BUFFERS; i++) {
        free(subject->args.buffer[i]);
        free(subject->first[i]);
        free(subject->expected[i]);
    }
}

static void restore(const struct subject *subject)
{
    for (unsigned i = 0; i < TABLE_MAX_BUFFERS; i++) {
        const struct table_buffer *buffer = &subject->row->buffers[i];
        if (buffer->role == TABLE_INOUT)
            memcpy(subject->args.buffer[i], subject->first[i], buffer->bytes);
        else if (buffer->role == TABLE_OUT || buffer->role == TABLE_SCRATCH)
            memset(subject->args.buffer[i], 0, buffer->bytes);
    }
}

/* ---- versions ---- */

static enum pxr_status run_version(const struct subject *subject, int version,
                                   struct pxr_error *err)
{
    if (version < TABLE_PLAIN)
        return table_run_once(subject->runs[version], err);
    subject->plain[version](&subject->args);
    return PXR_OK;
}

static void note_error(struct table_result *result, int version, const char *why)
{
    if (!result->error[0])
        snprintf(result->error, sizeof result->error, "%s: %s", version_names[version], why);
}

/* Runs from the first contents and compares. Gives the time it took, or 0 after an error. */
static double verify(struct subject *subject, int version, struct table_result *result)
{
    struct pxr_error err = {0};
    restore(subject);
    double start_us = bench_now_us();
    enum pxr_status status = run_version(subject, version, &err);
    double once_us = bench_now_us() - start_us;
    if (status != PXR_OK) {
        note_error(result, version, err.message);
        return 0;
    }
    for (unsigned i = 0; i < TABLE_MAX_BUFFERS; i++) {
        const struct table_buffer *buffer = &subject->row->buffers[i];
        if (!is_output(buffer))
            continue;
        if (version == TABLE_PLAIN) {
            memcpy(subject->expected[i], subject->args.buffer[i], buffer->bytes);
        } else if (!bench_is_same(buffer->element, buffer->tolerance, subject->args.buffer[i],
                                  subject->expected[i], buffer->bytes)) {
            char why[64];
            snprintf(why, sizeof why, "buffer %u is not that of plain C", i);
            note_error(result, version, why);
            return 0;
        }
    }
    return once_us;
}

/* ---- timing ---- */

struct runner {
    int version;
    unsigned count;  /* of runs in a sample */
    unsigned rounds; /* of samples */
    bool is_warmed;
    double once_us;
    double samples_us[TABLE_MAX_ROUNDS];
};

static double run_timed(const struct subject *subject, int version, unsigned count)
{
    double start_us = bench_now_us();
    for (unsigned i = 0; i < count; i++)
        run_version(subject, version, NULL);
    return bench_now_us() - start_us;
}

static double run_sample(const struct subject *subject, const struct runner *runner)
{
    if (!subject->row->is_restored) {
        usleep(PAUSE_US);
        if (runner->is_warmed)
            run_version(subject, runner->version, NULL);
        return run_timed(subject, runner->version, runner->count) / runner->count;
    }
    double sum_us = 0;
    usleep(PAUSE_US);
    for (unsigned i = 0; i < runner->count; i++) {
        restore(subject);
        sum_us += run_timed(subject, runner->version, 1);
    }
    return sum_us / runner->count;
}

/* once_us: from a run that may have been slowed down by compiling or page faults. */
static void plan(struct runner *runner, const struct subject *subject, double once_us,
                 unsigned rounds)
{
    runner->count = 1;
    runner->is_warmed = true;
    for (double spent_us = 0; spent_us < WARM_BELOW_US && once_us < BUDGET_US;) {
        double sample_us = run_sample(subject, runner);
        once_us = spent_us == 0 ? sample_us : fmin(once_us, sample_us);
        spent_us += sample_us + WARM_BELOW_US / ESTIMATES;
    }
    double count = ceil(SAMPLE_US / fmax(once_us, 0.1));
    runner->once_us = once_us;
    runner->count = count < MAX_SAMPLE_COUNT ? (unsigned)count : MAX_SAMPLE_COUNT;
    runner->is_warmed = once_us < WARM_BELOW_US;
    double affordable = floor(BUDGET_US / (runner->count * once_us));
    runner->rounds = once_us >= BUDGET_US ? 1 : (unsigned)fmax(affordable, MIN_ROUNDS);
    if (runner->rounds > rounds)
        runner->rounds = rounds;
}

static void limit_slow(struct runner *runners, unsigned count)
{
    double fastest_us = INFINITY;
    for (unsigned i = 0; i < count; i++)
        fastest_us = fmin(fastest_us, runners[i].once_us);
    for (unsigned i = 0; i < count; i++)
        if (runners[i].once_us > SLOW_RATIO * fastest_us && runners[i].once_us > SLOW_US &&
            runners[i].rounds > MIN_ROUNDS)
            runners[i].rounds = MIN_ROUNDS;
}

static void time_all(struct subject *subject, const double *once_us, const struct table_wish *wish,
                     struct table_result *result)
{
    static struct runner runners[TABLE_VERSIONS];
    unsigned count = 0;
    for (int version = 0; version < TABLE_VERSIONS; version++)
        if (once_us[version] > 0) {
            runners[count].version = version;
            plan(&runners[count++], subject, once_us[version], wish->rounds);
        }
    limit_slow(runners, count);
    for (unsigned round = 0; round < wish->rounds; round++)
        for (unsigned i = 0; i < count; i++)
            if (round < runners[i].rounds)
                runners[i].samples_us[round] = run_sample(subject, &runners[i]);
    for (unsigned i = 0; i < count; i++) {
        struct bench_times times = bench_times_of(runners[i].samples_us, runners[i].rounds);
        int version = runners[i].version;
        result->us[version] = wish->by_min ? times.min_us : times.median_us;
        result->spread[version] = (times.max_us - times.min_us) / result->us[version];
    }
}

/* ---- a row ---- */

int table_best(const struct table_result *result, enum table_version first)
{
    int best = (int)first;
    for (int version = best + 1; version < (int)first + TABLE_COMPILERS; version++)
        if (result->us[version] > 0 &&
            (result->us[best] == 0 || result->us[version] < result->us[best]))
            best = version;
    return best;
}

static void find_limit_share(struct table_result *result, const struct table_row *row, int threads,
                             struct table_limits *limits)
{
    double ours_s = result->us[TABLE_OURS] * 1e-6;
    if (row->limit == TABLE_LIMIT_NONE || ours_s == 0)
        return;
    table_limits_measure(limits, row->limit, threads);
    result->limit_share = row->work / ours_s / limits->rate[row->limit];
}

/* What our code of a version is asked for. */
static struct table_code_wish code_wish(int version, const struct table_wish *wish)
{
    static const enum pxr_collapse collapses[TABLE_PLAIN] = {[TABLE_FLAT] = PXR_COLLAPSE_FLAT,
                                                             [TABLE_HIERARCHICAL] =
                                                                 PXR_COLLAPSE_HIERARCHICAL,
                                                             [TABLE_VECTOR] = PXR_COLLAPSE_VECTOR};
    struct table_code_wish code = {.collapse = collapses[version], .mode = wish->mode};
    if (code.collapse == PXR_COLLAPSE_AUTO)
        code.collapse = wish->collapse;
    if (version == TABLE_OTHER_MODE)
        code.mode = wish->mode == PXR_MODE_JIT ? PXR_MODE_NORMAL : PXR_MODE_JIT;
    code.is_quick = version == TABLE_QUICK;
    code.dump_dir = version == TABLE_OURS ? wish->dump_dir : NULL;
    return code;
}

static void open_runs(struct subject *subject, const struct table_wish *wish,
                      struct table_result *result)
{
    for (int version = 0; version < (wish->has_page ? TABLE_PLAIN : TABLE_OURS + 1); version++) {
        struct pxr_error err = {0};
        const struct table_code_wish code = code_wish(version, wish);
        if (table_run_open(&subject->runs[version], subject->row, &subject->args, &code, &err) !=
            PXR_OK)
            note_error(result, version, err.message);
    }
}

static bool has_version(const struct subject *subject, int version)
{
    return version < TABLE_PLAIN ? subject->runs[version] != NULL : subject->plain[version] != NULL;
}

static void take_notes(const struct subject *subject, struct table_result *result)
{
    for (int version = 0; version < TABLE_PLAIN; version++)
        if (subject->runs[version])
            table_run_notes(subject->runs[version], &result->notes[version]);
    if (subject->runs[TABLE_OURS])
        table_run_explanation(subject->runs[TABLE_OURS], result->explanation);
}

/* ---- fewer blocks ---- */

const uint32_t table_block_steps[TABLE_BLOCK_STEPS] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16};

static void time_blocks(const struct subject *subject, const struct table_wish *wish,
                        struct table_result *result)
{
    static double samples_us[TABLE_BLOCK_STEPS][TABLE_MAX_ROUNDS];
    struct table_run *run = subject->runs[TABLE_OURS];
    unsigned rounds = 0;
    double start_us = bench_now_us();
    while (rounds < wish->rounds && (rounds == 0 || bench_now_us() - start_us < BUDGET_US)) {
        for (int i = 0; i < TABLE_BLOCK_STEPS; i++) {
            table_run_limit_blocks(run, table_block_steps[i]);
            run_version(subject, TABLE_OURS, NULL); // compiles what is not there, and wakes workers
            samples_us[i][rounds] = run_timed(subject, TABLE_OURS, 1);
        }
        rounds++;
    }
    table_run_limit_blocks(run, 0);
    for (int i = 0; i < TABLE_BLOCK_STEPS; i++) {
        struct bench_times times = bench_times_of(samples_us[i], rounds);
        result->blocks_us[i] = wish->by_min ? times.min_us : times.median_us;
    }
}

/* ---- all of a row ---- */

void table_measure(struct table_result *result, const struct table_row *row, int threads,
                   struct table_limits *limits, const struct table_wish *wish)
{
    struct subject subject;
    double once_us[TABLE_VERSIONS] = {0};
    memset(result, 0, sizeof *result);
    result->row = row;
    result->threads = (unsigned)threads;
    subject_init(&subject, row, threads);
    once_us[TABLE_PLAIN] = verify(&subject, TABLE_PLAIN, result);
    open_runs(&subject, wish, result);
    for (int version = 0; version < TABLE_VERSIONS; version++)
        if (version != TABLE_PLAIN && has_version(&subject, version))
            once_us[version] = verify(&subject, version, result);
    take_notes(&subject, result);
    for (unsigned i = 0; i < TABLE_MAX_BUFFERS; i++) {
        free(subject.expected[i]);
        subject.expected[i] = NULL;
    }
    time_all(&subject, once_us, wish, result);
    if (wish->has_page && row->has_like_blocks && result->us[TABLE_OURS] > 0)
        time_blocks(&subject, wish, result);
    subject_fini(&subject);
    find_limit_share(result, row, threads, limits);
}
