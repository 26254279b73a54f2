/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels in every collapse, with and without facts about the launch, against plain C with OpenMP:
 * interleaved in one process, medians of several rounds. Each result is compared with plain C's
 * before it is timed. Exit status 1 if one is wrong.
 */
#include <getopt.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "jit/variant.h"
#include "tests/bench/bench_report.h"

#define MAX_ROUNDS       1001
#define SAMPLE_US        1000.0 /* a sample is as many launches as take this long … */
#define MAX_SAMPLE_COUNT 1000   /* … but no more than these */

struct options {
    regex_t kernels;
    const char *threads; /* "1,0": a process for each; 0 means one per CPU */
    const char *json;
    FILE *json_file; /* the same, open; or NULL */
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

static void data_init(struct data *data, const struct bench_case *kernel, int threads)
{
    memset(data, 0, sizeof *data);
    void *in[BENCH_MAX_IN] = {0};
    for (unsigned i = 0; i < kernel->in_count; i++) {
        data->ours.in[i] = in[i] = bench_array(kernel->in_bytes[i]);
        bench_fill(in[i], BENCH_F32, kernel->in_bytes[i], i + 1);
    }
    if (kernel->fill)
        kernel->fill(in, kernel->size);
    memcpy(data->ours.size, kernel->size, sizeof kernel->size);
    memcpy(data->ours.scalar, kernel->scalar, sizeof kernel->scalar);
    data->ours.threads = threads;
    data->plain = data->ours;
    for (unsigned i = 0; i < kernel->out_count; i++) {
        data->ours.out[i] = bench_array(kernel->out_bytes[i]);
        data->plain.out[i] = bench_array(kernel->out_bytes[i]);
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

/* ---- launches ---- */

/* Every pointer that a kernel here gets is the beginning of an array. */
static bool find_array(uintptr_t address, uintptr_t *start)
{
    *start = address;
    return address % BENCH_ALIGN_BYTES == 0;
}

static enum pxr_status make_params(const struct ptx_func *func, const struct bench_case *kernel,
                                   const struct bench_args *args, uint8_t **params,
                                   struct pxr_error *err)
{
    unsigned count =
        kernel->in_count + kernel->out_count + kernel->size_count + kernel->scalar_count;
    *params = calloc(1, func->param_bytes + 8);
    if (!*params || func->param_count != count)
        return pxr_fail(err, PXR_INVALID_ARGUMENT, "kernel '%s' has %u parameters, not %u",
                        func->name, func->param_count, count);
    const struct ptx_var *const *param = func->params;
    for (unsigned i = 0; i < kernel->in_count; i++)
        memcpy(*params + (*param++)->param_offset_bytes, &args->in[i], sizeof(void *));
    for (unsigned i = 0; i < kernel->out_count; i++)
        memcpy(*params + (*param++)->param_offset_bytes, &args->out[i], sizeof(void *));
    for (unsigned i = 0; i < kernel->size_count; i++)
        memcpy(*params + (*param++)->param_offset_bytes, &args->size[i], 4);
    for (unsigned i = 0; i < kernel->scalar_count; i++)
        memcpy(*params + (*param++)->param_offset_bytes, &args->scalar[i], 4);
    return PXR_OK;
}

/* A case's kernel and how it is launched, for all variants. */
struct subject {
    const struct bench_case *kernel;
    struct data data;
    struct ptx_module *module;
    const struct ptx_func *func;
    uint8_t *params;
    struct bench_launch launch;
    struct tr_facts facts[BENCH_MODES]; /* what the product's first variant would assume */
};

static void plan_facts(const struct jit_launch *launch, enum pxr_mode mode,
                       struct tr_facts *planned)
{
    static const struct jit_variants none;
    struct tr_facts facts;
    jit_variants_facts(mode, launch, &facts);
    jit_variants_plan(&none, mode, &facts, planned);
}

static enum pxr_status subject_init(struct subject *subject, const struct bench_case *kernel,
                                    int threads, struct pxr_error *err)
{
    memset(subject, 0, sizeof *subject);
    subject->kernel = kernel;
    data_init(&subject->data, kernel, threads);
    enum pxr_status status = bench_module_open(kernel->file, &subject->module, err);
    if (status != PXR_OK)
        return status;
    subject->func = ptx_find_entry(subject->module, kernel->name);
    if (!subject->func)
        return pxr_fail(err, PXR_NOT_FOUND, "no kernel '%s'", kernel->name);
    status = make_params(subject->func, kernel, &subject->data.ours, &subject->params, err);
    if (status != PXR_OK)
        return status;
    struct jit_launch launch = {
        .kernel = subject->func, .params = subject->params, .find_allocation = find_array};
    memcpy(launch.grid, kernel->grid, sizeof kernel->grid);
    memcpy(launch.block, kernel->block, sizeof kernel->block);
    plan_facts(&launch, PXR_MODE_NORMAL, &subject->facts[BENCH_NORMAL]);
    plan_facts(&launch, PXR_MODE_JIT, &subject->facts[BENCH_JIT]);
    subject->launch.params = subject->params;
    memcpy(subject->launch.grid, kernel->grid, sizeof kernel->grid);
    memcpy(subject->launch.block, kernel->block, sizeof kernel->block);
    return PXR_OK;
}

static void subject_fini(struct subject *subject)
{
    data_fini(&subject->data);
    free(subject->params);
    if (subject->module)
        ptx_module_destroy(subject->module);
}

/* ---- measuring ---- */

/* Something to be timed: plain C, or a variant. */
struct runner {
    const struct subject *subject;
    const struct bench_code *code; /* NULL: plain C */
    struct bench_times *times;
    unsigned count; /* of launches in a sample */
    double samples_us[MAX_ROUNDS];
};

static void run_once(const struct runner *runner)
{
    if (runner->code)
        bench_run(runner->code, &runner->subject->launch, NULL);
    else
        runner->subject->kernel->plain(&runner->subject->data.plain);
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

static void measure(struct runner *runners, unsigned count, unsigned rounds)
{
    for (unsigned i = 0; i < count; i++)
        choose_count(&runners[i]);
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned i = 0; i < count; i++)
            runners[i].samples_us[round] = run_sample(&runners[i]);
    for (unsigned i = 0; i < count; i++)
        *runners[i].times = bench_times_of(runners[i].samples_us, rounds);
}

/* ---- a kernel ---- */

static const char *dump_dir(const struct options *options, int mode, int collapse, char path[256])
{
    if (!options->dump)
        return NULL;
    mkdir(options->dump, 0777);
    snprintf(path, 256, "%s/%s-%s", options->dump, pxr_collapse_name((enum pxr_collapse)collapse),
             mode == BENCH_JIT ? "jit" : "normal");
    mkdir(path, 0777);
    return path;
}

static bool is_right(const struct bench_variant *variant, const struct subject *subject,
                     struct pxr_error *err)
{
    const struct bench_case *kernel = subject->kernel;
    const struct data *data = &subject->data;
    for (unsigned i = 0; i < kernel->out_count; i++)
        memset(data->ours.out[i], 0, kernel->out_bytes[i]);
    if (bench_run(&variant->code, &subject->launch, err) != PXR_OK)
        return false;
    for (unsigned i = 0; i < kernel->out_count; i++)
        if (!bench_is_same(kernel->element, kernel->tolerance, data->ours.out[i],
                           data->plain.out[i], kernel->out_bytes[i])) {
            pxr_fail(err, PXR_INVALID_ARGUMENT, "output %u is not that of plain C", i);
            return false;
        }
    return true;
}

static void prepare_variant(struct bench_result *result, int mode, int collapse,
                            const struct subject *subject, const struct options *options)
{
    struct bench_variant *variant = &result->variants[mode][collapse];
    char path[256];
    struct bench_wish wish = {.collapse = (enum pxr_collapse)collapse,
                              .facts = &subject->facts[mode],
                              .dump_dir = dump_dir(options, mode, collapse, path)};
    struct pxr_error err = {0};
    enum pxr_status status =
        bench_code_init(&variant->code, subject->module, subject->func, &wish, &err);
    if (options->explain && variant->code.explanation)
        printf("%s\n", variant->code.explanation);
    if (status == PXR_OK && collapse != PXR_COLLAPSE_AUTO &&
        variant->code.collapse != wish.collapse)
        return;
    variant->is_there = status == PXR_OK && is_right(variant, subject, &err);
    if (variant->is_there)
        return;
    printf("%s, %s, collapse %d: %s\n", result->kernel->name, mode == BENCH_JIT ? "jit" : "normal",
           collapse, err.message);
    result->has_failed = true;
}

/* The variant that has the same code as what auto has chosen, and is timed already. Code whose
 * vectors are asked for may have more of them than what auto has chosen. */
static struct bench_variant *same_as_auto(struct bench_result *result, int mode)
{
    struct bench_variant *variant = &result->variants[mode][PXR_COLLAPSE_AUTO];
    struct bench_variant *same = &result->variants[mode][variant->code.collapse];
    return variant->is_there && same != variant && same->is_there &&
                   same->code.object_bytes == variant->code.object_bytes
               ? same
               : NULL;
}

/* Compares all variants, and gives the runners of those that are right and different. */
static unsigned prepare(struct bench_result *result, const struct subject *subject,
                        struct runner *runners, const struct options *options)
{
    unsigned count = 0;
    subject->kernel->plain(&subject->data.plain);
    runners[count++] = (struct runner){.subject = subject, .times = &result->plain};
    for (int mode = 0; mode < BENCH_MODES; mode++)
        for (int collapse = 0; collapse < BENCH_COLLAPSES; collapse++)
            if (options->collapses & 1u << collapse)
                prepare_variant(result, mode, collapse, subject, options);
    for (int mode = 0; mode < BENCH_MODES; mode++)
        for (int collapse = 0; collapse < BENCH_COLLAPSES; collapse++) {
            struct bench_variant *variant = &result->variants[mode][collapse];
            if (!variant->is_there || (collapse == PXR_COLLAPSE_AUTO && same_as_auto(result, mode)))
                continue;
            runners[count++] = (struct runner){
                .subject = subject, .code = &variant->code, .times = &variant->times};
        }
    return count;
}

static void run_case(struct bench_result *result, const struct bench_case *kernel, int threads,
                     const struct options *options)
{
    static struct runner runners[1 + BENCH_MODES * BENCH_COLLAPSES];
    struct subject subject;
    struct pxr_error err = {0};
    result->kernel = kernel;
    if (subject_init(&subject, kernel, threads, &err) != PXR_OK) {
        printf("%s: %s\n", kernel->name, err.message);
        result->has_failed = true;
    } else {
        unsigned count = prepare(result, &subject, runners, options);
        measure(runners, count, options->rounds);
    }
    for (int mode = 0; mode < BENCH_MODES; mode++) {
        const struct bench_variant *same = same_as_auto(result, mode);
        if (same)
            result->variants[mode][PXR_COLLAPSE_AUTO].times = same->times;
    }
    subject_fini(&subject);
}

/* ---- the program ---- */

static int run_all(void *arg, unsigned threads, bool is_first)
{
    const struct options *options = arg;
    FILE *json = options->json_file;
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
    if (json) {
        fputs(is_first ? "[" : ",\n", json);
        bench_write_json(json, results, count, sch_worker_count());
    }
    for (size_t i = 0; i < count; i++)
        for (int j = 0; j < BENCH_MODES * BENCH_COLLAPSES; j++)
            bench_code_fini(&results[i].variants[j / BENCH_COLLAPSES][j % BENCH_COLLAPSES].code);
    free(results);
    return exit_status;
}

static int run_processes(struct options *options)
{
    options->json_file = options->json ? fopen(options->json, "w") : NULL;
    if (options->json && !options->json_file) {
        fprintf(stderr, "bench_collapse: cannot write %s\n", options->json);
        return 2;
    }
    int exit_status = bench_for_each_number(options->threads, run_all, options);
    if (options->json_file) {
        fputs("]\n", options->json_file);
        fclose(options->json_file);
    }
    return exit_status;
}

static unsigned parse_collapses(const char *list)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < BENCH_COLLAPSES; i++)
        if (strstr(list, pxr_collapse_name((enum pxr_collapse)i)))
            bits |= 1u << i;
    return bits;
}

static const char usage[] =
    "usage: bench_collapse [--kernel RE] [--collapse LIST] [--threads LIST] [--rounds N] [--min]\n"
    "                      [--json FILE] [--dump DIR] [--explain]\n"
    "  --collapse  of auto, precise, flat, hierarchical, vector; default: all\n"
    "  --threads   default \"1,0\": on one, then on all\n"
    "  --min       ratios of minima instead of medians\n"
    "  --dump      PTX, IR and assembly to DIR/COLLAPSE-MODE/KERNEL.*\n"
    "PTXRUN_WIDTH and PTXRUN_JAM in the environment are for vectors of threads.\n";

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
