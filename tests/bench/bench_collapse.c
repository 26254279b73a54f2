/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels in every collapse, with and without facts about the launch, against plain C with OpenMP:
 * interleaved in one process, medians of several rounds. Each result is compared with plain C's
 * before it is timed. Exit status 1 if one is wrong.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scheduler/scheduler.h"
#include "tests/bench/bench_report.h"

#define MAX_ROUNDS       1001
#define SAMPLE_US        1000.0 /* a sample is as many launches as take this long … */
#define MAX_SAMPLE_COUNT 1000   /* … but no more than these */

struct options {
    regex_t kernels;
    const char *threads; /* "1,0": a process for each; 0 means one per CPU */
    const char *json;
    const char *dump;
    unsigned collapses; /* bits */
    unsigned rounds;
    bool by_min;
    bool explain;
};

/* ---- data ---- */

/* A case's arrays: inputs for all, outputs for ptxrun and for plain C. */
struct data {
    struct bench_args ours;
    struct bench_args plain;
};

static void *make_array(size_t size_bytes)
{
    size_t whole_bytes =
        (size_bytes + BENCH_ALIGN_BYTES - 1) / BENCH_ALIGN_BYTES * BENCH_ALIGN_BYTES;
    void *array = aligned_alloc(BENCH_ALIGN_BYTES, whole_bytes);
    if (!array)
        exit(2);
    memset(array, 0, whole_bytes);
    return array;
}

static void data_init(struct data *data, const struct bench_case *kernel, int threads)
{
    memset(data, 0, sizeof *data);
    void *in[BENCH_MAX_IN] = {0};
    uint32_t seed = 1;
    for (unsigned i = 0; i < kernel->in_count; i++) {
        in[i] = make_array(kernel->in_bytes[i]);
        for (size_t j = 0; j < kernel->in_bytes[i] / sizeof(float); j++) {
            seed = seed * 1664525u + 1013904223u;
            ((float *)in[i])[j] = (float)(seed >> 8) * 0x1p-24f;
        }
        data->ours.in[i] = in[i];
    }
    if (kernel->fill)
        kernel->fill(in, kernel->size);
    memcpy(data->ours.size, kernel->size, sizeof kernel->size);
    memcpy(data->ours.scalar, kernel->scalar, sizeof kernel->scalar);
    data->ours.threads = threads;
    data->plain = data->ours;
    for (unsigned i = 0; i < kernel->out_count; i++) {
        data->ours.out[i] = make_array(kernel->out_bytes[i]);
        data->plain.out[i] = make_array(kernel->out_bytes[i]);
    }
}

static void data_fini(struct data *data)
{
    for (unsigned i = 0; i < BENCH_MAX_IN; i++)
        free((void *)(uintptr_t)data->ours.in[i]);
    for (unsigned i = 0; i < BENCH_MAX_OUT; i++) {
        free(data->ours.out[i]);
        free(data->plain.out[i]);
    }
}

static bool is_same(const struct bench_case *kernel, const void *a, const void *b, size_t bytes)
{
    if (kernel->element == BENCH_U32 || kernel->tolerance == 0)
        return memcmp(a, b, bytes) == 0;
    const float *got = a, *expected = b;
    double largest = 0, difference = 0;
    for (size_t i = 0; i < bytes / sizeof(float); i++) {
        if (!isfinite(got[i]))
            return false;
        largest = fmax(largest, fabs((double)expected[i]));
        difference = fmax(difference, fabs((double)got[i] - (double)expected[i]));
    }
    return difference <= kernel->tolerance * largest;
}

/* ---- measuring ---- */

/* Something to be timed: plain C, or a variant. */
struct runner {
    const struct bench_case *kernel;
    const struct bench_args *plain_args;
    const struct bench_code *code; /* NULL: plain C */
    struct bench_times *times;
    unsigned count; /* of launches in a sample */
    double samples_us[MAX_ROUNDS];
};

static void run_once(const struct runner *runner)
{
    if (runner->code)
        bench_launch(runner->code, runner->kernel, NULL);
    else
        runner->kernel->plain(runner->plain_args);
}

static double run_sample(const struct runner *runner)
{
    double start_us = bench_now_us();
    for (unsigned i = 0; i < runner->count; i++)
        run_once(runner);
    return (bench_now_us() - start_us) / runner->count;
}

static void choose_count(struct runner *runner)
{
    runner->count = 1;
    run_sample(runner);
    double once_us = run_sample(runner);
    double count = ceil(SAMPLE_US / fmax(once_us, 0.1));
    runner->count = count < MAX_SAMPLE_COUNT ? (unsigned)count : MAX_SAMPLE_COUNT;
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void measure(struct runner *runners, unsigned count, unsigned rounds)
{
    for (unsigned i = 0; i < count; i++)
        choose_count(&runners[i]);
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned i = 0; i < count; i++)
            runners[i].samples_us[round] = run_sample(&runners[i]);
    for (unsigned i = 0; i < count; i++) {
        qsort(runners[i].samples_us, rounds, sizeof(double), compare_doubles);
        runners[i].times->median_us = runners[i].samples_us[rounds / 2];
        runners[i].times->min_us = runners[i].samples_us[0];
    }
}

/* ---- a kernel ---- */

static const char *dump_dir(const struct options *options, int mode, int collapse, char path[256])
{
    static const char *const names[] = {"auto", "precise", "flat", "hierarchical"};
    if (!options->dump)
        return NULL;
    mkdir(options->dump, 0777);
    snprintf(path, 256, "%s/%s-%s", options->dump, names[collapse],
             mode == BENCH_JIT ? "jit" : "normal");
    mkdir(path, 0777);
    return path;
}

static bool is_right(const struct bench_variant *variant, const struct bench_case *kernel,
                     const struct data *data, struct pxr_error *err)
{
    for (unsigned i = 0; i < kernel->out_count; i++)
        memset(data->ours.out[i], 0, kernel->out_bytes[i]);
    if (bench_launch(&variant->code, kernel, err) != PXR_OK)
        return false;
    for (unsigned i = 0; i < kernel->out_count; i++)
        if (!is_same(kernel, data->ours.out[i], data->plain.out[i], kernel->out_bytes[i])) {
            pxr_fail(err, PXR_INVALID_ARGUMENT, "output %u is not that of plain C", i);
            return false;
        }
    return true;
}

static void prepare_variant(struct bench_result *result, int mode, int collapse,
                            const struct data *data, const struct options *options)
{
    struct bench_variant *variant = &result->variants[mode][collapse];
    char path[256];
    struct bench_wish wish = {.collapse = (enum pxr_collapse)collapse,
                              .is_jit = mode == BENCH_JIT,
                              .dump_dir = dump_dir(options, mode, collapse, path)};
    struct pxr_error err = {0};
    enum pxr_status status =
        bench_code_init(&variant->code, result->kernel, &data->ours, &wish, &err);
    if (options->explain && variant->code.explanation)
        printf("%s\n", variant->code.explanation);
    if (status == PXR_OK && collapse != PXR_COLLAPSE_AUTO &&
        variant->code.collapse != wish.collapse)
        return;
    variant->is_there = status == PXR_OK && is_right(variant, result->kernel, data, &err);
    if (variant->is_there)
        return;
    printf("%s, %s, collapse %d: %s\n", result->kernel->name, mode == BENCH_JIT ? "jit" : "normal",
           collapse, err.message);
    result->has_failed = true;
}

/* The variant that has the same code as what auto has chosen, and is timed already. */
static struct bench_variant *same_as_auto(struct bench_result *result, int mode)
{
    struct bench_variant *variant = &result->variants[mode][PXR_COLLAPSE_AUTO];
    struct bench_variant *same = &result->variants[mode][variant->code.collapse];
    return variant->is_there && same != variant && same->is_there ? same : NULL;
}

static void run_case(struct bench_result *result, const struct bench_case *kernel, int threads,
                     const struct options *options)
{
    static struct runner runners[1 + BENCH_MODES * BENCH_COLLAPSES];
    struct data data;
    data_init(&data, kernel, threads);
    result->kernel = kernel;
    kernel->plain(&data.plain);
    unsigned count = 0;
    runners[count++] =
        (struct runner){.kernel = kernel, .plain_args = &data.plain, .times = &result->plain};
    for (int mode = 0; mode < BENCH_MODES; mode++)
        for (int collapse = 0; collapse < BENCH_COLLAPSES; collapse++)
            if (options->collapses & 1u << collapse)
                prepare_variant(result, mode, collapse, &data, options);
    for (int mode = 0; mode < BENCH_MODES; mode++)
        for (int collapse = 0; collapse < BENCH_COLLAPSES; collapse++) {
            struct bench_variant *variant = &result->variants[mode][collapse];
            if (!variant->is_there || (collapse == PXR_COLLAPSE_AUTO && same_as_auto(result, mode)))
                continue;
            runners[count++] =
                (struct runner){.kernel = kernel, .code = &variant->code, .times = &variant->times};
        }
    measure(runners, count, options->rounds);
    for (int mode = 0; mode < BENCH_MODES; mode++) {
        const struct bench_variant *same = same_as_auto(result, mode);
        if (same)
            result->variants[mode][PXR_COLLAPSE_AUTO].times = same->times;
    }
    data_fini(&data);
}

/* ---- the program ---- */

static int run_all(const struct options *options, unsigned threads, bool is_first, FILE *json)
{
    struct pxr_error err = {0};
    if (bench_engine_open(threads, &err) != PXR_OK) {
        fprintf(stderr, "bench_collapse: %s\n", err.message);
        return 1;
    }
    struct bench_result *results = calloc(bench_case_count, sizeof *results);
    if (!results)
        return 2;
    size_t count = 0;
    int exit_status = 0;
    printf("\n%u threads, %s of %u rounds\n", sch_worker_count(),
           options->by_min ? "minima" : "medians", options->rounds);
#ifndef BENCH_HAS_OPENMP
    if (sch_worker_count() > 1)
        printf("plain C was built without OpenMP and has one thread\n");
#endif
    bench_print_header();
    for (size_t i = 0; i < bench_case_count; i++) {
        if (regexec(&options->kernels, bench_cases[i].name, 0, NULL, 0) != 0)
            continue;
        struct bench_result *result = &results[count++];
        run_case(result, &bench_cases[i], (int)sch_worker_count(), options);
        bench_print_result(result, options->by_min);
        exit_status |= result->has_failed;
    }
    bench_print_means(results, count, options->by_min);
    if (is_first)
        bench_print_compile_times(results, count);
    if (json)
        bench_write_json(json, results, count, sch_worker_count());
    for (size_t i = 0; i < count; i++)
        for (int j = 0; j < BENCH_MODES * BENCH_COLLAPSES; j++)
            bench_code_fini(&results[i].variants[j / BENCH_COLLAPSES][j % BENCH_COLLAPSES].code);
    free(results);
    return exit_status;
}

/* The pool of workers has one size for the life of a process, so each size gets one. */
static int run_process(const struct options *options, unsigned threads, bool is_first, FILE *json)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int exit_status = run_all(options, threads, is_first, json);
        fflush(NULL);
        _exit(exit_status);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int run_processes(const struct options *options)
{
    FILE *json = options->json ? fopen(options->json, "w") : NULL;
    if (options->json && !json) {
        fprintf(stderr, "bench_collapse: cannot write %s\n", options->json);
        return 2;
    }
    int exit_status = 0;
    for (const char *next = options->threads; *next != '\0';) {
        char *end;
        unsigned threads = (unsigned)strtoul(next, &end, 10);
        bool is_first = next == options->threads;
        if (json)
            fputs(is_first ? "[" : ",\n", json);
        exit_status |= run_process(options, threads, is_first, json);
        next = *end == ',' ? end + 1 : "";
    }
    if (json) {
        fputs("]\n", json);
        fclose(json);
    }
    return exit_status;
}

static unsigned parse_collapses(const char *list)
{
    static const char *const names[BENCH_COLLAPSES] = {"auto", "precise", "flat", "hierarchical"};
    unsigned bits = 0;
    for (unsigned i = 0; i < BENCH_COLLAPSES; i++)
        if (strstr(list, names[i]))
            bits |= 1u << i;
    return bits;
}

static const char usage[] =
    "usage: bench_collapse [--kernel RE] [--collapse LIST] [--threads LIST] [--rounds N] [--min]\n"
    "                      [--json FILE] [--dump DIR] [--explain]\n"
    "  --collapse  of auto, precise, flat, hierarchical; default: all\n"
    "  --threads   default \"1,0\": on one, then on all\n"
    "  --min       ratios of minima instead of medians\n"
    "  --dump      PTX, IR and assembly to DIR/COLLAPSE-MODE/KERNEL.*\n";

int main(int argc, char **argv)
{
    static const struct option long_options[] = {{"kernel", required_argument, NULL, 'k'},
                                                 {"collapse", required_argument, NULL, 'c'},
                                                 {"threads", required_argument, NULL, 't'},
                                                 {"rounds", required_argument, NULL, 'r'},
                                                 {"min", no_argument, NULL, 'm'},
                                                 {"json", required_argument, NULL, 'j'},
                                                 {"dump", required_argument, NULL, 'd'},
                                                 {"explain", no_argument, NULL, 'e'},
                                                 {NULL, 0, NULL, 0}};
    struct options options = {.threads = "1,0", .collapses = ~0u, .rounds = 11};
    const char *kernels = "";
    for (int letter; (letter = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
        switch (letter) {
        case 'k':
            kernels = optarg;
            break;
        case 'c':
            options.collapses = parse_collapses(optarg);
            break;
        case 't':
            options.threads = optarg;
            break;
        case 'r':
            options.rounds = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'm':
            options.by_min = true;
            break;
        case 'j':
            options.json = optarg;
            break;
        case 'd':
            options.dump = optarg;
            break;
        case 'e':
            options.explain = true;
            break;
        default:
            fputs(usage, stderr);
            return 2;
        }
    }
    if (options.rounds == 0 || options.rounds > MAX_ROUNDS ||
        regcomp(&options.kernels, kernels, REG_EXTENDED | REG_NOSUB) != 0) {
        fputs(usage, stderr);
        return 2;
    }
    /* OpenMP's threads must not spin while ptxrun's work, or the other way round. */
    setenv("KMP_BLOCKTIME", "0", 0);
    setenv("OMP_WAIT_POLICY", "passive", 0);
    int exit_status = run_processes(&options);
    regfree(&options.kernels);
    return exit_status;
}
