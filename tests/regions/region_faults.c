/* SPDX-License-Identifier: Apache-2.0
 *
 * Seeds defects into the region former, one at a time, in every place of every kernel given, and
 * expects that a run shows each: other memory, a fault, a crash, or no end.
 *
 *   region_faults [--jobs N] [--share N] [--verbose] [--random FIRST COUNT] FILE…
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/random/generator.h"
#include "tests/shapes/backend.h"
#include "tests/support/runner.h"

#define MAX_JOBS       64
#define SITE_SECONDS   20
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
    [TR_SEED_MISSING_STOP] = "missing_stop",
};

/* Defects that no run can show. */
static const struct equivalent {
    const char *name; /* of the case; '*' at the end stands for anything */
    const char *collapse;
    const char *kind;
    unsigned places; /* at most */
    const char *why;
} equivalents[] = {
#define EQUIVALENT(name, collapse, kind, places, why) {name, collapse, kind, places, why},
#include "tests/regions/equivalent.def"
#undef EQUIVALENT
};

struct options {
    unsigned jobs;
    unsigned share; /* one in so many places is seeded */
    bool is_verbose;
    uint64_t first_seed;
    unsigned seed_count;
    char **files;
    unsigned file_count;
};

struct tally {
    unsigned sites, caught, equivalent, missed, broken;
};

/* Where a job is, in memory that outlives the job. */
struct progress {
    unsigned number; /* of the case */
    unsigned collapse;
    enum tr_seed kind;
    uint32_t site;
    bool is_seeded; /* a place is being tried: dying shows the defect */
    unsigned kept;  /* places of this case, collapse and kind that nothing showed */
    struct tally tallies[TR_SEED_COUNT];
};

/* ---- cases ---- */

struct subject {
    struct ptx_case c;
    char name[128];
    bool has_reference;
    struct case_memory reference; /* what the oracle left; for random kernels */
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

static void unload(struct subject *subject)
{
    case_memory_fini(&subject->reference);
    case_fini(&subject->c);
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

static bool matches(const char *pattern, const char *name)
{
    size_t len = strcspn(pattern, "*");
    return strncmp(pattern, name, len) == 0 && (pattern[len] == '*' || name[len] == '\0');
}

static unsigned equivalent_places(const char *name, const struct progress *at)
{
    unsigned places = 0;
    for (size_t n = 0; n < sizeof equivalents / sizeof *equivalents; n++)
        if (matches(equivalents[n].name, name) &&
            matches(equivalents[n].collapse, collapses[at->collapse].name) &&
            matches(equivalents[n].kind, kind_names[at->kind]))
            places += equivalents[n].places;
    return places;
}

static void count_kept(const struct subject *subject, struct progress *at)
{
    struct tally *tally = &at->tallies[at->kind];
    if (++at->kept <= equivalent_places(subject->name, at)) {
        tally->equivalent++;
        return;
    }
    tally->missed++;
    printf("missed: %s, %s, %s, place %u\n", subject->name, collapses[at->collapse].name,
           kind_names[at->kind], at->site);
}

static void try_site(struct runner *runner, const struct subject *subject,
                     const struct options *options, struct progress *at)
{
    struct runner_hooks hooks = {.seed = at->kind, .seed_site = at->site};
    struct pxr_error err = {0};
    struct tally *tally = &at->tallies[at->kind];
    tally->sites++;
    at->is_seeded = true;
    alarm(SITE_SECONDS);
    runner_set_hooks(runner, &hooks);
    bool is_kept = is_good(runner, subject, &err);
    alarm(0);
    at->is_seeded = false;
    if (is_kept)
        count_kept(subject, at);
    else
        tally->caught++;
    if (options->is_verbose)
        printf("%s, %s, %s, place %u: %s\n", subject->name, collapses[at->collapse].name,
               kind_names[at->kind], at->site, is_kept ? "nothing shows it" : err.message);
}

/* All places of one kind, from where the job is. */
static void try_kind(struct runner *runner, const struct subject *subject,
                     const struct options *options, struct progress *at)
{
    struct runner_hooks hooks = {.seed = at->kind, .seed_site = NO_SITE};
    struct pxr_error err = {0};
    alarm(SITE_SECONDS);
    runner_set_hooks(runner, &hooks);
    bool is_right = is_good(runner, subject, &err);
    alarm(0);
    struct runner_made made = runner_last_made(runner);
    if (!is_right) {
        printf("broken without a defect: %s, %s: %s\n", subject->name, collapses[at->collapse].name,
               err.message);
        at->tallies[at->kind].broken++;
        return;
    }
    if (made.collapse != collapses[at->collapse].collapse)
        return;
    for (; at->site < made.seed_sites; at->site++)
        if ((at->site + at->number) % options->share == 0)
            try_site(runner, subject, options, at);
}

static void try_case(struct runner *const runners[COLLAPSE_COUNT], const struct options *options,
                     struct progress *at)
{
    struct subject subject;
    struct pxr_error err = {0};
    if (!load(options, at->number, &subject, &err)) {
        printf("%s cannot be used: %s\n", subject.name, err.message);
        at->tallies[TR_SEED_NONE].broken++;
        unload(&subject);
        return;
    }
    for (; at->collapse < COLLAPSE_COUNT; at->collapse++, at->kind = TR_SEED_NONE + 1)
        for (; at->kind < TR_SEED_COUNT; at->kind++, at->site = 0, at->kept = 0)
            try_kind(runners[at->collapse], &subject, options, at);
    fflush(stdout);
    unload(&subject);
}

/* ---- jobs ---- */

static void start_case(struct progress *at, unsigned number)
{
    at->number = number;
    at->collapse = 0;
    at->kind = TR_SEED_NONE + 1;
    at->site = 0;
    at->kept = 0;
    at->is_seeded = false;
}

static int run_job(const struct options *options, struct progress *at)
{
    struct runner *runners[COLLAPSE_COUNT];
    unsigned count = options->file_count + options->seed_count;
    for (size_t n = 0; n < COLLAPSE_COUNT; n++) {
        struct runner_build build = {.collapse = collapses[n].collapse, .workers = 1};
        struct pxr_error err = {0};
        if (runner_open_inprocess(&build, &runners[n], &err) != PXR_OK) {
            printf("%s\n", err.message);
            return 2;
        }
    }
    while (at->number < count) {
        try_case(runners, options, at);
        start_case(at, at->number + options->jobs);
    }
    fflush(stdout);
    return 0;
}

static pid_t start_job(const struct options *options, struct progress *at)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(run_job(options, at));
    return child;
}

/* Goes on behind the place that the job died of; false: it died of none. */
static bool bury(const struct options *options, struct progress *at, int status)
{
    if (!at->is_seeded) {
        printf("case %u, %s: died without a defect (%x)\n", at->number,
               at->collapse < COLLAPSE_COUNT ? collapses[at->collapse].name : "-",
               (unsigned)status);
        at->tallies[TR_SEED_NONE].broken++;
        start_case(at, at->number + options->jobs);
        return WIFSIGNALED(status);
    }
    if (options->is_verbose)
        printf("case %u, %s, %s, place %u: died (%x)\n", at->number, collapses[at->collapse].name,
               kind_names[at->kind], at->site, (unsigned)status);
    at->tallies[at->kind].caught++;
    at->is_seeded = false;
    at->site++;
    return true;
}

static void run_jobs(const struct options *options, struct progress *progress)
{
    pid_t children[MAX_JOBS];
    for (unsigned job = 0; job < options->jobs; job++) {
        start_case(&progress[job], job);
        children[job] = start_job(options, &progress[job]);
    }
    for (unsigned job = 0; job < options->jobs; job++) {
        int status = 0;
        while (children[job] > 0 && waitpid(children[job], &status, 0) > 0 && status != 0 &&
               bury(options, &progress[job], status))
            children[job] = start_job(options, &progress[job]);
    }
}

static int report(const struct options *options, const struct progress *progress)
{
    struct tally sum[TR_SEED_COUNT] = {0};
    unsigned bad = 0;
    unsigned sites = 0;
    for (unsigned job = 0; job < options->jobs; job++) {
        for (int kind = 0; kind < TR_SEED_COUNT; kind++) {
            const struct tally *tally = &progress[job].tallies[kind];
            sum[kind].sites += tally->sites;
            sum[kind].caught += tally->caught;
            sum[kind].equivalent += tally->equivalent;
            sum[kind].missed += tally->missed;
            bad += tally->missed + tally->broken;
        }
    }
    for (int kind = TR_SEED_NONE + 1; kind < TR_SEED_COUNT; kind++) {
        printf("%-12s %6u places: %6u caught, %u equivalent, %u missed\n", kind_names[kind],
               sum[kind].sites, sum[kind].caught, sum[kind].equivalent, sum[kind].missed);
        sites += sum[kind].sites;
    }
    return bad != 0 || sites == 0;
}

/* ---- command line ---- */

static bool parse_options(int argc, char **argv, struct options *options)
{
    *options = (struct options){.jobs = 1, .share = 1};
    int n = 1;
    for (; n < argc && strncmp(argv[n], "--", 2) == 0; n++) {
        if (strcmp(argv[n], "--jobs") == 0 && n + 1 < argc) {
            options->jobs = (unsigned)strtoul(argv[++n], NULL, 10);
        } else if (strcmp(argv[n], "--share") == 0 && n + 1 < argc) {
            options->share = (unsigned)strtoul(argv[++n], NULL, 10);
        } else if (strcmp(argv[n], "--random") == 0 && n + 2 < argc) {
            options->first_seed = strtoull(argv[++n], NULL, 10);
            options->seed_count = (unsigned)strtoul(argv[++n], NULL, 10);
        } else if (strcmp(argv[n], "--verbose") == 0) {
            options->is_verbose = true;
        } else {
            return false;
        }
    }
    options->files = argv + n;
    options->file_count = (unsigned)(argc - n);
    return options->jobs > 0 && options->jobs <= MAX_JOBS && options->share > 0;
}

int main(int argc, char **argv)
{
    struct options options;
    struct progress *progress = mmap(NULL, MAX_JOBS * sizeof *progress, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!parse_options(argc, argv, &options) || progress == MAP_FAILED) {
        fputs("region_faults [--jobs N] [--share N] [--verbose] [--random FIRST COUNT] FILE...\n",
              stderr);
        return 2;
    }
    run_jobs(&options, progress);
    return report(&options, progress);
}
