/* SPDX-License-Identifier: Apache-2.0
 *
 * Random kernels on the oracle and on the product in every collapse and mode. What tells them apart
 * is written to a file, made smaller, and completed with what the memory should hold.
 *
 *   random_kernels [FAMILY] [--seed S] [--count N] [--time SECONDS] [--jobs N]
 *                  [--backend NAME,…] [--share N] [--out DIR]
 *   random_kernels [FAMILY] [--backend NAME,…] --print SEED | --check FILE | --reduce FILE
 *
 * FAMILY: --small | --leavers | --rows | --clusters | --matrices | --stencils | --pixels |
 * --strides
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/random/compare.h"
#include "tests/random/generator.h"
#include "tests/random/reduce.h"

#define KERNEL_SECONDS  120 /* of CPU time … */
#define HANG_SECONDS    900 /* … or of waiting, on a machine that has other work */
#define MAX_STEPS       UINT64_C(30000000)
#define CHECK_SCHEDULES 8 /* of the oracle: a candidate may have lost what made values defined */
#define MAX_CHECKS      3000
#define MAX_REPORTS     20
#define CHECK_STATUS    10 /* exit status of --check: this plus the verdict */
#define MAX_JOBS        64

typedef struct generator_config (*config_fn)(uint64_t seed);

struct options {
    const char *program;
    const char *directory;
    const char *backends; /* names; the list is made from them */
    struct backend_list tested;
    unsigned share; /* a kernel runs on every share-th of them */
    uint64_t seed;
    uint64_t count;
    unsigned jobs;
    unsigned seconds; /* 0: no limit */
    config_fn config; /* the configuration of a seed */
};

static const char *const verdict_names[VERDICT_COUNT] = {"same", "different", "invalid",
                                                         "unsupported"};

/* ---- time ---- */

/* What takes longer ends by SIGALRM or SIGPROF. */
static void limit_time(bool is_limited)
{
    struct itimerval used = {.it_value.tv_sec = is_limited ? KERNEL_SECONDS : 0};
    alarm(is_limited ? HANG_SECONDS : 0);
    setitimer(ITIMER_PROF, &used, NULL);
}

/* ---- one text ---- */

static enum verdict judge(const char *name, const char *bytes, const struct backend_list *tested,
                          unsigned schedules, struct comparison *comparison)
{
    struct ptx_case c;
    *comparison = (struct comparison){.verdict = VERDICT_INVALID};
    if (case_parse(name, bytes, &c, &comparison->err) == PXR_OK) {
        c.max_steps = MAX_STEPS;
        compare_case(&c, tested, schedules, comparison);
    }
    comparison_fini(comparison);
    case_fini(&c);
    return comparison->verdict;
}

/* ---- files for tests/ptx/regress ---- */

/* "expect: …" of a buffer, equal values in a row counted. */
static void add_expectation(const struct case_arg *arg, const uint8_t *bytes, struct text *text)
{
    size_t count = arg->bytes / arg->elem_bytes;
    unsigned column = 0;
    if (memcmp(arg->initial, bytes, arg->bytes) == 0) {
        text_add(text, "// expect: same\n");
        return;
    }
    text_add(text, "// expect: { ");
    for (size_t n = 0, run; n < count; n += run) {
        uint64_t value = 0;
        memcpy(&value, bytes + n * arg->elem_bytes, arg->elem_bytes);
        run = 1;
        while (n + run < count && memcmp(bytes + n * arg->elem_bytes,
                                         bytes + (n + run) * arg->elem_bytes, arg->elem_bytes) == 0)
            run++;
        text_add(text, "%s0x%" PRIx64, n == 0 ? "" : column % 8 ? ", " : ",\n//   ", value);
        if (run > 1)
            text_add(text, "*%zu", run);
        column++;
    }
    text_add(text, " }\n");
}

/* Completes the text with the oracle's contents of every buffer, without the marks of
 * constructs. */
static void complete(const struct text *from, const struct ptx_case *c,
                     const struct case_memory *memory, struct text *to)
{
    size_t arg = 0;
    bool is_in_list = false;
    for (const char *at = from->bytes; *at;) {
        size_t len = strcspn(at, "\n");
        len += at[len] == '\n';
        bool is_mark = strncmp(at, "//<", 3) == 0 || strncmp(at, "//>", 3) == 0;
        bool is_buffer = strncmp(at, "// buffer:", 10) == 0;
        if (!is_mark)
            text_add_bytes(to, at, len);
        is_in_list = (is_in_list || (is_buffer && memchr(at, '{', len))) && !memchr(at, '}', len);
        bool ends_buffer = (is_buffer || (arg < c->arg_count && memchr(at, '}', len))) &&
                           !is_in_list && strncmp(at, "//", 2) == 0;
        if (ends_buffer && arg < c->arg_count) {
            add_expectation(&c->args[arg], memory->bytes[arg], to);
            arg++;
        }
        at += len;
    }
}

static bool write_completed(const struct text *text, const struct backend_list *tested,
                            const char *path)
{
    struct ptx_case c;
    struct comparison comparison = {.verdict = VERDICT_INVALID};
    struct text completed = {0};
    bool is_written = false;
    if (case_parse(path, text->bytes, &c, &comparison.err) == PXR_OK)
        compare_case(&c, tested, 2, &comparison);
    if (comparison.memory.bytes[0])
        complete(text, &c, &comparison.memory, &completed);
    else
        text_add_bytes(&completed, text->bytes, text->len);
    is_written = text_write_file(completed.bytes, completed.len, path);
    printf("%s: %s\n", path, comparison.err.message);
    text_fini(&completed);
    comparison_fini(&comparison);
    case_fini(&c);
    return is_written;
}

/* A driver cannot take this process with it, and a context takes long to make. */
static int judge_on_driver(const char *bytes)
{
    const struct backend_list tested = {{&backend_driver}, 1};
    struct comparison comparison;
    limit_time(true);
    enum verdict verdict = judge("candidate", bytes, &tested, CHECK_SCHEDULES, &comparison);
    limit_time(false);
    return CHECK_STATUS + (int)verdict;
}

static int reduce_file(const struct options *options, const char *backends, const char *path)
{
    struct backend_list tested = {0};
    struct text text = {0};
    char candidate[4096];
    char smaller[4096];
    snprintf(candidate, sizeof candidate, "%s.candidate", path);
    snprintf(smaller, sizeof smaller, "%s.reduced.ptx", path);
    backend_list_add(&tested, backends);
    bool is_driver = backend_list_has(&tested, &backend_driver);
    struct reducer reducer = {.judge = is_driver ? judge_on_driver : NULL,
                              .program = options->program,
                              .backend = backends,
                              .candidate = candidate,
                              .max_checks = MAX_CHECKS};
    if (!text_read_file(&text, path)) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 2;
    }
    reducer.wanted = reducer_check(&reducer, text.bytes, text.len);
    if (reducer.wanted == CHECK_STATUS + VERDICT_SAME) {
        printf("%s: no difference\n", path);
        remove(candidate);
        text_fini(&text);
        return 1;
    }
    reduce_text(&reducer, &text);
    printf("%u checks; ", reducer.checks);
    bool is_kept = reducer.wanted == CHECK_STATUS + VERDICT_DIFFERENT
                       ? write_completed(&text, &tested, smaller)
                       : text_write_file(text.bytes, text.len, smaller);
    text_fini(&text);
    return is_kept ? 0 : 2;
}

/* ---- many seeds ---- */

/* The seed under way, for the handler; written before each kernel. */
static volatile sig_atomic_t current_seed_low;
static volatile sig_atomic_t current_seed_high;

static void report_hang(int signal)
{
    char line[64] = "no end or a crash, seed ";
    size_t len = strlen(line);
    uint64_t seed = (uint64_t)(uint32_t)current_seed_high << 32 | (uint32_t)current_seed_low;
    char digits[24];
    size_t count = 0;
    (void)signal;
    do {
        digits[count++] = (char)('0' + seed % 10);
        seed /= 10;
    } while (seed);
    while (count)
        line[len++] = digits[--count];
    line[len++] = '\n';
    if (write(STDERR_FILENO, line, len) < 0)
        _exit(4);
    _exit(3);
}

/* In memory that the jobs share with the process that started them. */
struct progress {
    uint64_t counts[VERDICT_COUNT];
    uint64_t fused[BACKEND_BUILD_COUNT];   /* kernels whose threads became loops … */
    uint64_t vectors[BACKEND_BUILD_COUNT]; /* … and loops over vectors */
    uint64_t next;                         /* seed, counted from options->seed */
};

/* The kernel of a seed. */
static void make_seed(const struct options *options, uint64_t seed, struct text *text)
{
    struct generator_config config = options->config(seed);
    generator_make(&config, text);
}

/* Writes the kernel of a seed to a file; then its path. */
static bool write_seed(const struct options *options, uint64_t seed, char path[4096])
{
    struct text text = {0};
    make_seed(options, seed, &text);
    snprintf(path, 4096, "%s/random_%" PRIu64 ".ptx", options->directory, seed);
    bool is_written = text_write_file(text.bytes, text.len, path);
    text_fini(&text);
    return is_written;
}

/* The backends of a seed: all have their turn. */
static struct backend_list turn_of(const struct options *options, uint64_t seed)
{
    struct backend_list list = {.count = 0};
    for (size_t n = seed % options->share; n < options->tested.count; n += options->share)
        list.backends[list.count++] = options->tested.backends[n];
    return list;
}

static enum verdict try_seed(const struct options *options, uint64_t seed, bool is_reported,
                             struct progress *progress)
{
    struct text text = {0};
    const struct backend_list tested = turn_of(options, seed);
    struct comparison comparison;
    char path[4096];
    current_seed_low = (sig_atomic_t)(uint32_t)seed;
    current_seed_high = (sig_atomic_t)(uint32_t)(seed >> 32);
    limit_time(true);
    make_seed(options, seed, &text);
    enum verdict verdict = judge("random kernel", text.bytes, &tested, 2, &comparison);
    limit_time(false);
    for (int n = 0; n < BACKEND_BUILD_COUNT; n++) {
        progress->fused[n] += pxr_collapse_is_fused(comparison.made[n].collapse);
        progress->vectors[n] += comparison.made[n].width != 0;
    }
    if (verdict != VERDICT_SAME && is_reported) {
        printf("seed %" PRIu64 ": %s: %s\n", seed, verdict_names[verdict], comparison.err.message);
        if (write_seed(options, seed, path) && verdict == VERDICT_DIFFERENT)
            reduce_file(options, comparison.backend->name, path);
        fflush(stdout);
    }
    text_fini(&text);
    return verdict;
}

static uint64_t count_reports(const struct progress *progress, unsigned jobs)
{
    uint64_t reports = 0;
    for (unsigned job = 0; job < jobs; job++)
        for (int n = VERDICT_SAME + 1; n < VERDICT_COUNT; n++)
            reports += progress[job].counts[n];
    return reports;
}

#define PROGRESS_KERNELS 1000

/* A long run says now and then how far it has come. */
static void report_progress(const struct options *options, uint64_t number)
{
    if ((number + 1) % PROGRESS_KERNELS != 0)
        return;
    printf("%" PRIu64 " kernels, up to seed %" PRIu64 "\n", number + 1, options->seed + number);
    fflush(stdout);
}

/* Every jobs-th seed, from where the job is. */
static void run_job(const struct options *options, struct progress *progress, unsigned job,
                    time_t start)
{
    struct progress *own = &progress[job];
    signal(SIGALRM, report_hang);
    signal(SIGPROF, report_hang);
    signal(SIGABRT, report_hang);
    for (; own->next < options->count; own->next += options->jobs) {
        if (options->seconds && time(NULL) - start >= (time_t)options->seconds)
            break;
        bool is_reported = count_reports(progress, options->jobs) < MAX_REPORTS;
        own->counts[try_seed(options, options->seed + own->next, is_reported, own)]++;
        report_progress(options, own->next);
    }
}

static pid_t start_job(const struct options *options, struct progress *progress, unsigned job,
                       time_t start)
{
    fflush(stdout);
    pid_t child = fork();
    if (child != 0)
        return child;
    run_job(options, progress, job, start);
    fflush(stdout);
    _exit(0);
}

/* A job died of its kernel; its successor continues with the next. */
static void bury(const struct options *options, struct progress *progress, unsigned job, int status)
{
    uint64_t seed = options->seed + progress[job].next;
    char path[4096];
    printf("seed %" PRIu64 ": different: the process died (%x)\n", seed, (unsigned)status);
    if (count_reports(progress, options->jobs) < MAX_REPORTS && write_seed(options, seed, path))
        reduce_file(options, options->backends, path);
    progress[job].counts[VERDICT_DIFFERENT]++;
    progress[job].next += options->jobs;
}

/* Reports how many kernels each build has made loops of; with none, little would be tested. */
static void report_fused(const struct options *options, const struct progress *progress)
{
    const char *between = "loops of threads:";
    for (size_t n = 0; n < options->tested.count; n++) {
        const struct backend *backend = options->tested.backends[n];
        uint64_t fused = 0;
        uint64_t vectors = 0;
        if (!backend_is_build(backend) || backend->collapse == PXR_COLLAPSE_PRECISE)
            continue;
        for (unsigned job = 0; job < options->jobs; job++) {
            fused += progress[job].fused[backend - backend_builds];
            vectors += progress[job].vectors[backend - backend_builds];
        }
        printf("%s %s in %" PRIu64, between, backend->name, fused);
        if (vectors)
            printf(" (vectors in %" PRIu64 ")", vectors);
        between = ",";
    }
    if (*between == ',')
        printf("\n");
}

static int try_many(const struct options *options)
{
    struct progress *progress = mmap(NULL, MAX_JOBS * sizeof *progress, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[MAX_JOBS];
    uint64_t counts[VERDICT_COUNT] = {0};
    time_t start = time(NULL);
    if (progress == MAP_FAILED)
        return 2;
    for (unsigned job = 0; job < options->jobs; job++) {
        progress[job].next = job;
        children[job] = start_job(options, progress, job, start);
    }
    for (unsigned job = 0; job < options->jobs; job++) {
        int status = 0;
        while (children[job] > 0 && waitpid(children[job], &status, 0) > 0 && status != 0) {
            bury(options, progress, job, status);
            children[job] = start_job(options, progress, job, start);
        }
        for (int n = 0; n < VERDICT_COUNT; n++)
            counts[n] += progress[job].counts[n];
    }
    for (int n = 0; n < VERDICT_COUNT; n++)
        printf("%s%" PRIu64 " %s", n ? ", " : "", counts[n], verdict_names[n]);
    printf("\n");
    report_fused(options, progress);
    return count_reports(progress, options->jobs) != 0 || counts[VERDICT_SAME] == 0;
}

static int check_file(const struct options *options, const char *path)
{
    struct text text = {0};
    struct comparison comparison = {0};
    enum verdict verdict = VERDICT_INVALID;
    if (text_read_file(&text, path))
        verdict = judge(path, text.bytes, &options->tested, CHECK_SCHEDULES, &comparison);
    printf("%s: %s\n", verdict_names[verdict],
           verdict == VERDICT_SAME ? "" : comparison.err.message);
    text_fini(&text);
    return CHECK_STATUS + (int)verdict;
}

static int print_seed(const struct options *options, uint64_t seed)
{
    struct text text = {0};
    make_seed(options, seed, &text);
    fwrite(text.bytes, 1, text.len, stdout);
    text_fini(&text);
    return 0;
}

static int usage(void)
{
    fputs("random_kernels [--small | --leavers | --rows | --clusters | --matrices | --stencils | "
          "--pixels | --strides]\n"
          "               [--seed S] [--count N] [--time SECONDS] [--jobs N] [--backend "
          "NAME,...] [--share N]\n"
          "               [--out DIR]\n"
          "random_kernels [--small | --leavers | --rows | --clusters | --matrices | --stencils | "
          "--pixels | --strides]\n"
          "               [--backend NAME,...]\n"
          "               --print SEED | --check FILE | --reduce FILE\n"
          "  --small: nine kernels of ten have few statements\n"
          "  --leavers: likewise, and all have exits between barriers\n"
          "  --rows: all have many barriers and warp operations in a row\n"
          "  --clusters: all have clusters of blocks\n"
          "  --matrices: all have products of matrices and rows of them in shared memory\n"
          "  --stencils: all are stencils over matrices, without loops and meetings\n"
          "  --pixels: likewise, of bytes and short integers\n"
          "  --strides: all have a loop over an array by the number of threads\n"
          "  NAME: all (every collapse and mode, the default), precise, flat, hierarchical,\n"
          "        vector, auto, with -normal or -jit in one mode only; product, driver\n"
          "  --share: a kernel runs on every Nth of the backends, which take turns\n"
          "  PTXRUN_WIDTH, PTXRUN_JAM: of vectors of threads\n",
          stderr);
    return 2;
}

/* How many arguments were taken; 0: an action, or unknown. */
static int take_option(struct options *options, const char *name, const char *value)
{
    static const struct {
        const char *name;
        struct generator_config (*config)(uint64_t seed);
    } families[] = {
        {"--small", generator_config_small},       {"--leavers", generator_config_leavers},
        {"--rows", generator_config_rows},         {"--clusters", generator_config_clusters},
        {"--matrices", generator_config_matrices}, {"--stencils", generator_config_stencils},
        {"--strides", generator_config_strides},   {"--pixels", generator_config_pixels}};
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (strcmp(name, families[i].name) == 0) {
            options->config = families[i].config;
            return 1;
        }
    if (value == NULL)
        return 0;
    if (strcmp(name, "--seed") == 0)
        options->seed = strtoull(value, NULL, 0);
    else if (strcmp(name, "--count") == 0)
        options->count = strtoull(value, NULL, 0);
    else if (strcmp(name, "--time") == 0)
        options->seconds = (unsigned)strtoul(value, NULL, 0);
    else if (strcmp(name, "--jobs") == 0)
        options->jobs = (unsigned)strtoul(value, NULL, 0);
    else if (strcmp(name, "--share") == 0)
        options->share = (unsigned)strtoul(value, NULL, 0);
    else if (strcmp(name, "--out") == 0)
        options->directory = value;
    else if (strcmp(name, "--backend") == 0)
        options->backends = value;
    else
        return 0;
    return 2;
}

int main(int argc, char **argv)
{
    char program[4096];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    program[len > 0 ? len : 0] = '\0';
    struct options options = {.program = program,
                              .directory = ".",
                              .backends = "all",
                              .config = generator_config_from_seed,
                              .seed = 1,
                              .count = 100,
                              .share = 1,
                              .jobs = 1};
    int n = 1;
    for (int taken = 1; n < argc && taken != 0; n += taken)
        taken = take_option(&options, argv[n], argv[n + 1]);
    if (!backend_list_add(&options.tested, options.backends) || options.jobs == 0 ||
        options.jobs > MAX_JOBS || options.share == 0)
        return usage();
    if (options.seconds && options.count == 100)
        options.count = UINT64_MAX;
    if (n == argc)
        return try_many(&options);
    if (n + 2 != argc)
        return usage();
    if (strcmp(argv[n], "--print") == 0)
        return print_seed(&options, strtoull(argv[n + 1], NULL, 0));
    if (strcmp(argv[n], "--check") == 0)
        return check_file(&options, argv[n + 1]);
    if (strcmp(argv[n], "--reduce") == 0)
        return reduce_file(&options, options.backends, argv[n + 1]);
    return usage();
}
