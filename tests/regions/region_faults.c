/* SPDX-License-Identifier: Apache-2.0
 *
 * Seeds defects into the region former, one at a time, in every place of every kernel given, and
 * expects that a run shows each: other memory, a fault, a crash, or no end.
 *
 *   region_faults [--excuses LIST] [--jobs N] [--share N] [--turns N] [--list | --verbose]
 *                 [--random FIRST COUNT] FILE…
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/random/generator.h"
#include "tests/shapes/backend.h"
#include "tests/support/excuses.h"
#include "tests/support/runner.h"
#include "tests/support/turn.h"

#define MAX_JOBS       64
#define SITE_SECONDS   120  /* by the clock, for what waits: others may have the CPUs for long */
#define WHOLE_CPU_MS   3000 /* of a kernel without a defect, which takes a fraction of that */
#define SPARE_CPU_MS   300  /* of one with a defect, and four times what it takes without */
#define SCHEDULES      4
#define ORACLE_STEPS   UINT64_C(30000000)
#define NO_SITE        UINT32_MAX /* nothing is seeded; the number of places is told */
#define COLLAPSE_COUNT 2

static const struct {
    const char *name;
    enum pxr_collapse collapse;
} collapses[COLLAPSE_COUNT] = {{"flat", PXR_COLLAPSE_FLAT},
                               {"hierarchical", PXR_COLLAPSE_HIERARCHICAL}};

static const char *const kind_names[TR_SEED_COUNT] = {
    [TR_SEED_LOST_VALUE] = "lost_value",
    [TR_SEED_EXITED_MASK] = "exited_mask",
    [TR_SEED_MISSING_SYNC] = "missing_sync_point",
};

struct options {
    unsigned jobs;
    unsigned share; /* one in so many places is seeded */
    unsigned turns; /* of kernels: see tests/support/turn.h */
    bool is_verbose, is_list;
    const char *excuses_path;
    struct excuses excuses; /* of defects that no run can show, by "case collapse kind" */
    uint64_t first_seed;
    unsigned seed_count;
    char **files;
    unsigned file_count;
};

/* What became of a defect. */
enum fate { CAUGHT, EXCUSED, MISSED, STALE, FATES };

static const char *const fate_names[FATES] = {
    [CAUGHT] = "caught",
    [EXCUSED] = "excused",
    [MISSED] = "missed",
    [STALE] = "excused for nothing",
};

struct tally {
    unsigned sites, fates[FATES], broken;
};

/* A place of a defect. */
struct place {
    unsigned number; /* of the case */
    unsigned collapse;
    enum tr_seed kind;
    uint32_t site;
};

/* The answer of a process that runs a kernel to its parent. */
struct answer {
    enum pxr_collapse collapse;
    uint32_t sites;
    unsigned cpu_ms; /* what it took */
    bool is_right;
    char name[128];
    char message[200];
};

/* One job's memory, shared with the processes it starts. */
struct job {
    struct answer answer;
    struct tally tallies[TR_SEED_COUNT];
};

/* ---- cases ---- */

struct subject {
    struct ptx_case c;
    char name[128];
    bool has_reference;
    struct case_memory reference; /* the oracle's memory; for random kernels */
};

static bool load_random(struct subject *subject, uint64_t seed, struct pxr_error *err)
{
    struct generator_config config = generator_config_from_seed(seed);
    struct text text = {0};
    snprintf(subject->name, sizeof subject->name, "random_%" PRIu64, seed);
    generator_make(&config, &text);
    enum pxr_status status = case_parse("random kernel", text.bytes, &subject->c, err);
    text_fini(&text);
    subject->c.max_steps = ORACLE_STEPS;
    subject->has_reference = status == PXR_OK && case_memory_init(&subject->c, &subject->reference);
    return subject->has_reference &&
           backend_oracle.run(&backend_oracle, &subject->c, &subject->reference, 0, err) == PXR_OK;
}

static bool load(const struct options *options, unsigned number, struct subject *subject,
                 struct pxr_error *err)
{
    *subject = (struct subject){0};
    if (number >= options->file_count)
        return load_random(subject, options->first_seed + number - options->file_count, err);
    const char *path = options->files[number];
    const char *slash = strrchr(path, '/');
    snprintf(subject->name, sizeof subject->name, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(subject->name, '.');
    if (dot)
        *dot = '\0';
    return case_load(path, &subject->c, err) == PXR_OK;
}

static bool is_as_expected(const struct subject *subject, const struct case_memory *memory,
                           struct pxr_error *err)
{
    if (!subject->has_reference)
        return case_memory_check(&subject->c, memory, err);
    for (size_t n = 0; n < subject->c.arg_count; n++) {
        const struct case_arg *arg = &subject->c.args[n];
        if (arg->is_buffer &&
            memcmp(memory->bytes[n], subject->reference.bytes[n], arg->bytes) != 0) {
            pxr_fail(err, PXR_INVALID_ARGUMENT, "argument %zu differs", n);
            return false;
        }
    }
    return true;
}

/* One run in each of several orders of threads; false: one was not as it should be. */
static bool is_good(struct runner *runner, const struct subject *subject, struct pxr_error *err)
{
    for (unsigned seed = 0; seed < SCHEDULES; seed++) {
        struct case_memory memory;
        if (!case_memory_init(&subject->c, &memory))
            return false;
        runner_set_chaos(seed);
        enum pxr_status status = backend_run_case(runner, &subject->c, &memory, err);
        bool is_right =
            subject->c.expects_fault ? backend_status_is_fault(status) : status == PXR_OK;
        is_right = is_right && is_as_expected(subject, &memory, err);
        case_memory_fini(&memory);
        if (!is_right)
            return false;
    }
    return true;
}

/* ---- places ---- */

static void run_place(const struct options *options, const struct place *place,
                      struct answer *answer)
{
    struct subject subject;
    struct pxr_error err = {0};
    struct runner *runner;
    struct runner_build build = {.collapse = collapses[place->collapse].collapse,
                                 .workers = 1,
                                 .hooks = {.seed = place->kind, .seed_site = place->site}};
    bool is_ready = load(options, place->number, &subject, &err) &&
                    runner_open_inprocess(&build, &runner, &err) == PXR_OK;
    memcpy(answer->name, subject.name, sizeof answer->name);
    if (is_ready) {
        answer->is_right = is_good(runner, &subject, &err);
        answer->collapse = runner_last_made(runner).collapse;
        answer->sites = runner_last_made(runner).seed_sites;
    }
    answer->cpu_ms = (unsigned)(clock() / (CLOCKS_PER_SEC / 1000));
    snprintf(answer->message, sizeof answer->message, "%.199s", err.message);
}

/* Defects make endless loops, so this is what many places take. */
static void limit_time(unsigned cpu_ms)
{
    struct itimerval cpu_time = {
        .it_value = {.tv_sec = cpu_ms / 1000, .tv_usec = cpu_ms % 1000 * 1000}};
    setitimer(ITIMER_PROF, &cpu_time, NULL);
    alarm(SITE_SECONDS);
}

/* In a process of its own: a defect may end it. Its memory is fresh, too, so that remains of a run
 * without the defect cannot make up for it. */
static void try_place(const struct options *options, const struct place *place, unsigned cpu_ms,
                      struct answer *answer)
{
    int status = 0;
    answer->is_right = false;
    snprintf(answer->message, sizeof answer->message, "the process died or did not end");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        limit_time(cpu_ms);
        run_place(options, place, answer);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
        answer->is_right = false;
}

/* ---- all places ---- */

static enum fate judge(const struct options *options, const char *key, uint32_t site,
                       bool is_noticed)
{
    bool is_excused = excuses_find(&options->excuses, key, site) != NULL;
    if (is_noticed)
        return is_excused ? STALE : CAUGHT;
    return is_excused ? EXCUSED : MISSED;
}

/* Tries a place; whether it was noticed. */
static bool note_place(const struct options *options, const struct place *place, unsigned cpu_ms,
                       const char *key, struct job *job)
{
    struct tally *tally = &job->tallies[place->kind];
    try_place(options, place, cpu_ms, &job->answer);
    bool is_noticed = !job->answer.is_right;
    enum fate fate = judge(options, key, place->site, is_noticed);
    tally->sites++;
    tally->fates[fate]++;
    if (options->is_verbose || fate == STALE || (fate == MISSED && !options->is_list))
        printf("%s: %s, place %u: %s\n", fate_names[fate], key, place->site, job->answer.message);
    return is_noticed;
}

/* Every place of a share, and the lines that excuse those that nothing has shown. */
static void try_sites(const struct options *options, struct place place, const char *key,
                      uint32_t sites, struct job *job)
{
    uint32_t *unnoticed = calloc(sites + 1, sizeof *unnoticed);
    uint32_t count = 0;
    unsigned cpu_ms = SPARE_CPU_MS + 4 * job->answer.cpu_ms;
    for (place.site = 0; unnoticed != NULL && place.site < sites; place.site++)
        if ((place.site + place.number) % options->share == 0 &&
            !note_place(options, &place, cpu_ms, key, job))
            unnoticed[count++] = place.site;
    if (unnoticed == NULL)
        job->tallies[place.kind].broken++;
    else if (options->is_list)
        excuses_print(&options->excuses, key, unnoticed, count);
    free(unnoticed);
}

/* All places of one kind in one kernel. */
static void try_kind(const struct options *options, struct place place, struct job *job)
{
    struct tally *tally = &job->tallies[place.kind];
    struct answer *answer = &job->answer;
    char key[EXCUSE_KEY_BYTES];
    place.site = NO_SITE;
    *answer = (struct answer){0};
    try_place(options, &place, WHOLE_CPU_MS, answer);
    if (!answer->is_right) {
        printf("broken without a defect: %s, %s: %s\n", answer->name,
               collapses[place.collapse].name, answer->message);
        tally->broken++;
        return;
    }
    bool is_collapsed = answer->collapse == collapses[place.collapse].collapse;
    uint32_t sites = is_collapsed ? answer->sites : 0;
    snprintf(key, sizeof key, "%s %s %s", answer->name, collapses[place.collapse].name,
             kind_names[place.kind]);
    uint32_t limit = excuses_limit(&options->excuses, key);
    if (limit > sites) {
        printf("excused for nothing: %s has %u places, and no place %u\n", key, sites, limit - 1);
        tally->fates[STALE]++;
    }
    try_sites(options, place, key, sites, job);
}

static void try_kernel(const struct options *options, unsigned number, struct job *job)
{
    for (unsigned collapse = 0; collapse < COLLAPSE_COUNT; collapse++)
        for (int kind = TR_SEED_NONE + 1; kind < TR_SEED_COUNT; kind++)
            try_kind(options, (struct place){number, collapse, (enum tr_seed)kind, 0}, job);
}

static void run_job(const struct options *options, unsigned first, struct job *job)
{
    unsigned count = options->file_count + options->seed_count;
    for (unsigned number = first; number < count; number += options->jobs)
        if (turn_has(number, options->turns))
            try_kernel(options, number, job);
    fflush(stdout);
}

static bool run_jobs(const struct options *options, struct job *jobs)
{
    pid_t children[MAX_JOBS];
    bool is_good_run = true;
    for (unsigned n = 0; n < options->jobs; n++) {
        children[n] = fork();
        if (children[n] == 0) {
            run_job(options, n, &jobs[n]);
            _exit(0);
        }
    }
    for (unsigned n = 0; n < options->jobs; n++) {
        int status = 0;
        is_good_run &= children[n] > 0 && waitpid(children[n], &status, 0) > 0 && status == 0;
    }
    return is_good_run;
}

static int report(const struct options *options, const struct job *jobs)
{
    struct tally sum[TR_SEED_COUNT] = {0};
    unsigned bad = 0;
    unsigned sites = 0;
    turn_print(options->turns);
    for (unsigned n = 0; n < options->jobs; n++) {
        for (int kind = 0; kind < TR_SEED_COUNT; kind++) {
            const struct tally *tally = &jobs[n].tallies[kind];
            sum[kind].sites += tally->sites;
            for (int fate = 0; fate < FATES; fate++)
                sum[kind].fates[fate] += tally->fates[fate];
            bad += tally->fates[MISSED] + tally->fates[STALE] + tally->broken;
        }
    }
    for (int kind = TR_SEED_NONE + 1; kind < TR_SEED_COUNT; kind++) {
        printf("%-18s %6u places", kind_names[kind], sum[kind].sites);
        for (int fate = 0; fate < FATES; fate++)
            printf("%s %u %s", fate ? "," : ":", sum[kind].fates[fate], fate_names[fate]);
        printf("\n");
        sites += sum[kind].sites;
    }
    return bad != 0 || sites == 0;
}

/* ---- excuses ---- */

static bool is_place(const char *key)
{
    for (int collapse = 0; collapse < COLLAPSE_COUNT; collapse++)
        for (int kind = TR_SEED_NONE + 1; kind < TR_SEED_COUNT; kind++) {
            char name[EXCUSE_KEY_BYTES];
            snprintf(name, sizeof name, "%s %s", collapses[collapse].name, kind_names[kind]);
            if (strcmp(key, name) == 0)
                return true;
        }
    return false;
}

static bool load_excuses(struct options *options)
{
    struct pxr_error err = {0};
    if (options->excuses_path == NULL)
        return true;
    if (excuses_load(&options->excuses, options->excuses_path, &err) != PXR_OK) {
        fprintf(stderr, "region_faults: %s\n", err.message);
        return false;
    }
    bool are_known = excuses_are_for(&options->excuses,
                                     options->file_count > 0 ? options->files[0] : "", is_place);
    if (!are_known)
        excuses_fini(&options->excuses);
    return are_known;
}

/* ---- command line ---- */

static bool parse_options(int argc, char **argv, struct options *options)
{
    *options = (struct options){.jobs = 1, .share = 1, .turns = 1};
    int n = 1;
    for (; n < argc && strncmp(argv[n], "--", 2) == 0; n++) {
        if (strcmp(argv[n], "--jobs") == 0 && n + 1 < argc) {
            options->jobs = (unsigned)strtoul(argv[++n], NULL, 10);
        } else if (strcmp(argv[n], "--share") == 0 && n + 1 < argc) {
            options->share = (unsigned)strtoul(argv[++n], NULL, 10);
        } else if (strcmp(argv[n], "--turns") == 0 && n + 1 < argc) {
            options->turns = (unsigned)strtoul(argv[++n], NULL, 10);
        } else if (strcmp(argv[n], "--random") == 0 && n + 2 < argc) {
            options->first_seed = strtoull(argv[++n], NULL, 10);
            options->seed_count = (unsigned)strtoul(argv[++n], NULL, 10);
        } else if (strcmp(argv[n], "--excuses") == 0 && n + 1 < argc) {
            options->excuses_path = argv[++n];
        } else if (strcmp(argv[n], "--list") == 0) {
            options->is_list = true;
        } else if (strcmp(argv[n], "--verbose") == 0) {
            options->is_verbose = true;
        } else {
            return false;
        }
    }
    options->files = argv + n;
    options->file_count = (unsigned)(argc - n);
    return options->jobs > 0 && options->jobs <= MAX_JOBS && options->share > 0 &&
           options->turns > 0;
}

int main(int argc, char **argv)
{
    struct options options;
    struct job *jobs = mmap(NULL, MAX_JOBS * sizeof *jobs, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!parse_options(argc, argv, &options) || jobs == MAP_FAILED) {
        fputs("region_faults [--excuses LIST] [--jobs N] [--share N] [--turns N]\n"
              "              [--list | --verbose] [--random FIRST COUNT] FILE...\n",
              stderr);
        return 2;
    }
    if (!load_excuses(&options))
        return 2;
    bool is_complete = run_jobs(&options, jobs);
    excuses_fini(&options.excuses);
    return report(&options, jobs) || !is_complete;
}
