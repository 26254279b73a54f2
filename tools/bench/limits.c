/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptxbench limits`: its command line, and the numbers as a table for people (Markdown) or as JSON.
 */
#include "tools/bench/limits.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/bench_engine.h"
#include "tools/bench/bench_measure.h"
#include "tools/bench/limits_measure.h"
#include "tools/bench/machine.h"
#include "tools/bench/table_plain.h"
#include "util/json.h"
#include "util/options.h"

#define FAMILY_BYTES 32
#define MAX_ROUNDS   1000

struct options {
    bool is_help;
    unsigned rounds;
    const char *json;
};

struct limits {
    struct tr_target target; /* the row that code is made by */
    struct limits_costs costs;
    struct limits_memory memory;
    double launch_us;
};

/* ---- which row ---- */

/* The word behind "family" in what the compile library says. */
static bool find_target(struct tr_target *target, struct pxr_error *err)
{
    char *text = NULL;
    char family[FAMILY_BYTES] = "";
    if (bench_engine_describe(&text, err) != PXR_OK)
        return false;
    const char *at = strstr(text, " family ");
    if (at)
        sscanf(at, " family %31s", family);
    free(text);
    if (tr_target_of_family(family, target))
        return true;
    pxr_fail(err, PXR_COMPILE_FAILED, "no row of figures is called '%s'", family);
    return false;
}

/* ---- a launch ---- */

#define LAUNCHES 2000

/* An empty kernel of one block, and the wait for it. */
static enum pxr_status measure_launch(double *launch_us, struct pxr_error *err)
{
    struct bench_code code = {0};
    struct ptx_module *module = NULL;
    enum pxr_status status = bench_empty_open(&module, &code, err);
    struct bench_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .params = NULL};
    *launch_us = INFINITY;
    for (int batch = 0; status == PXR_OK && batch < 10; batch++) {
        double start_us = bench_now_us();
        for (int i = 0; status == PXR_OK && i < LAUNCHES; i++)
            status = bench_run(&code, &launch, err);
        *launch_us = fmin(*launch_us, (bench_now_us() - start_us) / LAUNCHES);
    }
    bench_code_fini(&code);
    ptx_module_destroy(module);
    return status;
}

/* ---- text ---- */

static const char *cpu_name(void)
{
    const char *cpu = pxr_options_get()->cpu;
    return cpu[0] ? cpu : "native";
}

static void print_figures(const struct limits *limits)
{
    printf("| figure | what | measured | row |\n|---|---|---|---|\n");
    for (size_t f = 0; f < TR_FIGURE_COUNT; f++) {
        double row = tr_figure(&limits->target, f);
        printf("| %s | %s | %.1f |", tr_figure_names[f].name, tr_figure_names[f].what,
               limits->costs.figures[f]);
        printf(row > 0 ? " %.4g |\n" : " no instruction |\n", row);
    }
}

static void print_memory(const struct limits_memory *memory)
{
    printf("\n| memory | KiB | latency, ns | read, GB/s |\n|---|---|---|---|\n");
    for (int i = 0; i < LIMITS_LEVELS; i++) {
        const struct limits_level *level = &memory->levels[i];
        printf("| %s |", level->name);
        printf(level->bytes > 0 ? " %.0f |" : "  |", level->bytes / 1024);
        printf(" %.1f | %.1f |\n", level->latency_ns, level->read_gb_s);
    }
}

static void print_rest(const struct limits *limits)
{
    const struct limits_memory *memory = &limits->memory;
    printf("\n| what | ns |\n|---|---|\n");
    printf("| a line of each page, one after the other | %.1f |\n", memory->pages_ns);
    printf("| the same, prefetched 16 pages ahead | %.1f |\n", memory->pages_ahead_ns);
    printf("| a load of what was just stored | %.1f |\n", memory->forward_ns);
    printf("| the same, stored in two halves | %.1f |\n", memory->forward_parts_ns);
    printf("| a load behind a store to another place | %.1f |\n", memory->apart_ns);
    printf("| the same, 4 KiB from it | %.1f |\n", memory->aliased_ns);
    printf("| launch of an empty kernel and the wait | %.0f |\n", limits->launch_us * 1000);
}

static void print_text(const struct limits *limits)
{
    printf("%s; caches: %s; code for CPU %s; row %s (%s); loops by %s\n\n", machine_cpu(),
           machine_caches(), cpu_name(), limits->target.family,
           tr_evidence_name(limits->target.evidence), table_plain_compiler(TABLE_CC));
    printf("The unit is a scalar sum, %.3f ns; of vectors: a register of %u bits.\n\n",
           limits->costs.unit_ns, limits->target.vector_bits);
    print_figures(limits);
    print_memory(&limits->memory);
    print_rest(limits);
}

/* ---- JSON ---- */

static void write_figures(struct json *json, const struct limits *limits)
{
    json_open_array(json, "figures");
    for (size_t f = 0; f < TR_FIGURE_COUNT; f++) {
        json_open_object(json, NULL);
        json_text(json, "name", tr_figure_names[f].name);
        json_number(json, "measured", limits->costs.figures[f]);
        json_number(json, "row", tr_figure(&limits->target, f));
        json_close_object(json);
    }
    json_close_array(json);
}

static void write_memory(struct json *json, const struct limits_memory *memory)
{
    json_open_array(json, "memory");
    for (int i = 0; i < LIMITS_LEVELS; i++) {
        const struct limits_level *level = &memory->levels[i];
        json_open_object(json, NULL);
        json_text(json, "name", level->name);
        json_number(json, "bytes", level->bytes > 0 ? level->bytes : NAN);
        json_number(json, "latency_ns", level->latency_ns);
        json_number(json, "read_gb_s", level->read_gb_s);
        json_close_object(json);
    }
    json_close_array(json);
    json_number(json, "pages_ns", memory->pages_ns);
    json_number(json, "pages_ahead_ns", memory->pages_ahead_ns);
    json_number(json, "forward_ns", memory->forward_ns);
    json_number(json, "forward_parts_ns", memory->forward_parts_ns);
    json_number(json, "apart_ns", memory->apart_ns);
    json_number(json, "aliased_ns", memory->aliased_ns);
}

static void write_json(FILE *file, const struct limits *limits)
{
    struct json json = {.file = file};
    json_open_object(&json, NULL);
    json_text(&json, "machine", machine_cpu());
    json_text(&json, "caches", machine_caches());
    json_text(&json, "cpu", cpu_name());
    json_text(&json, "family", limits->target.family);
    json_text(&json, "row_is", tr_evidence_name(limits->target.evidence));
    json_text(&json, "compiler", table_plain_compiler(TABLE_CC));
    json_number(&json, "unit_ns", limits->costs.unit_ns);
    json_number(&json, "launch_us", limits->launch_us);
    write_figures(&json, limits);
    write_memory(&json, &limits->memory);
    json_close_object(&json);
}

/* ---- the command ---- */

static int run_limits(const struct options *options)
{
    static struct limits limits;
    struct pxr_error err;
    FILE *json = options->json ? fopen(options->json, "we") : NULL;
    if (options->json && !json) {
        fprintf(stderr, "ptxbench: cannot write %s: %s\n", options->json, strerror(errno));
        return 2;
    }
    if (bench_engine_open(1, &err) != PXR_OK || !find_target(&limits.target, &err) ||
        measure_launch(&limits.launch_us, &err) != PXR_OK) {
        fprintf(stderr, "ptxbench: %s\n", err.message);
        return 2;
    }
    if (!table_plain_open(pxr_options_get()->cpu))
        return 2;
    bench_pin(1);
    limits_measure_costs(&limits.costs, options->rounds);
    limits_measure_memory(&limits.memory, options->rounds);
    print_text(&limits);
    if (json) {
        write_json(json, &limits);
        fclose(json);
    }
    return 0;
}

static const char usage[] =
    "usage: ptxbench limits [--cpu NAME] [--rounds N] [--json FILE]\n"
    "  --cpu     code for another CPU, such as x86-64-v3, if this machine can run it\n"
    "  --rounds  attempts, of which the fastest counts; default 15\n";

static bool set_cpu(const char *name)
{
    return setenv(pxr_option_table[PXR_OPTION_CPU].variable, name, 1) == 0;
}

static bool parse_option(int letter, struct options *options)
{
    switch (letter) {
    case 'H':
        options->is_help = true;
        return true;
    case 'p':
        return set_cpu(optarg);
    case 'j':
        options->json = optarg;
        return true;
    case 'r':
        options->rounds = (unsigned)strtoul(optarg, NULL, 10);
        return options->rounds > 0 && options->rounds <= MAX_ROUNDS;
    default:
        return false;
    }
}

static bool parse_command_line(int argc, char **argv, struct options *options)
{
    static const struct option long_options[] = {{"help", no_argument, NULL, 'H'},
                                                 {"cpu", required_argument, NULL, 'p'},
                                                 {"rounds", required_argument, NULL, 'r'},
                                                 {"json", required_argument, NULL, 'j'},
                                                 {NULL, 0, NULL, 0}};
    for (int letter; (letter = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
        if (!parse_option(letter, options))
            return false;
    return optind == argc;
}

int limits_main(int argc, char **argv)
{
    struct options options = {.rounds = 15};
    bool is_right = parse_command_line(argc, argv, &options);
    if (!is_right || options.is_help) {
        fputs(usage, is_right ? stdout : stderr);
        return is_right ? 0 : 2;
    }
    return run_limits(&options);
}
