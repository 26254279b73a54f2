/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptxbench table`: its command line, and the rows in a process for each number of threads.
 */
#include "tools/bench/table.h"

#include <errno.h>
#include <getopt.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "scheduler/scheduler.h"
#include "tools/bench/bench_engine.h"
#include "tools/bench/table_plain.h"
#include "tools/bench/table_report.h"
#include "translator/step_names.h"

#define MAX_RESULTS 4096

/* Shared by the processes. */
struct results {
    size_t count;
    struct table_result results[MAX_RESULTS];
};

struct options {
    bool is_help;
    regex_t filter;
    const char *threads;
    const char *json;
    const char *html;
    struct table_wish wish;
    struct results *results;
};

static const struct table_rows *const row_sets[] = {&table_regular, &table_irregular, &table_images,
                                                    &table_matrices, &table_votes};
enum { ROW_SETS = sizeof row_sets / sizeof row_sets[0] };

static bool is_wanted(const struct options *options, const struct table_row *row)
{
    char text[128];
    snprintf(text, sizeof text, "%s %s", row->kernel, row->size);
    return (options->wish.has_page || !row->is_extra) &&
           regexec(&options->filter, text, 0, NULL, 0) == 0;
}

/* bench_process_fn */
static int run_all(void *arg, unsigned threads, bool is_first)
{
    const struct options *options = arg;
    struct pxr_error err = {0};
    if (bench_engine_open(threads, &err) != PXR_OK) {
        fprintf(stderr, "ptxbench: %s\n", err.message);
        return 1;
    }
    threads = sch_worker_count();
    bench_pin(threads);
    printf("%s%u threads, %s of up to %u rounds\n", is_first ? "" : "\n", threads,
           options->wish.by_min ? "minima" : "medians", options->wish.rounds);
#ifndef BENCH_HAS_OPENMP
    if (threads > 1)
        printf("C was built without OpenMP and has one thread\n");
#endif
    table_print_header();
    struct table_limits limits = {0};
    int exit_status = 0;
    struct results *results = options->results;
    for (size_t i = 0; i < ROW_SETS; i++)
        for (size_t j = 0; j < row_sets[i]->count && results->count < MAX_RESULTS; j++) {
            const struct table_row *row = &row_sets[i]->rows[j];
            if (!is_wanted(options, row))
                continue;
            struct table_result *result = &results->results[results->count];
            table_measure(result, row, (int)threads, &limits, &options->wish);
            results->count++;
            table_print_result(result);
            exit_status |= result->error[0] != '\0';
        }
    table_print_limits(&limits);
    return exit_status;
}

/* C for a CPU that this machine is not able to run would end this program. */
static bool open_plain(const char *cpu)
{
    struct pxr_error err;
    if (cpu[0] && bench_engine_check(&err) != PXR_OK) {
        fprintf(stderr, "ptxbench: %s\n", err.message);
        return false;
    }
    return table_plain_open(cpu);
}

/* path: NULL gives NULL. False, after a message: it cannot be written. */
static bool open_report(const char *path, FILE **file)
{
    *file = path ? fopen(path, "we") : NULL;
    if (path && !*file)
        fprintf(stderr, "ptxbench: cannot write %s: %s\n", path, strerror(errno));
    return !path || *file;
}

static int run_table(struct options *options)
{
    options->results = mmap(NULL, sizeof *options->results, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (options->results == MAP_FAILED) {
        fprintf(stderr, "ptxbench: no memory\n");
        return 2;
    }
    FILE *json, *html;
    if (!open_report(options->json, &json) || !open_report(options->html, &html))
        return 2;
    if (!open_plain(pxr_options_get()->cpu))
        return 2;
    int exit_status = bench_for_each_number(options->threads, run_all, options);
    const struct results *results = options->results;
    table_print_mean(results->results, results->count);
    if (json) {
        table_write_json(json, results->results, results->count);
        fclose(json);
    }
    if (html) {
        table_write_html(html, results->results, results->count, &options->wish);
        fclose(html);
    }
    return exit_status;
}

/* ---- the command line ---- */

static const char usage[] =
    "usage: ptxbench table [--threads LIST] [--filter RE] [--json FILE] [--html FILE]\n"
    "                      [--rounds N] [--min] [--mode MODE] [--collapse COLLAPSE] [--dump DIR]\n"
    "                      [--cpu NAME] [--tier TIER] [--skip STEP,...]\n"
    "  --threads   default \"1,0\": on one, then on all\n"
    "  --filter    rows whose \"KERNEL SIZE\" matches\n"
    "  --rounds    samples of each version; fewer of slow ones; default 11\n"
    "  --html      a page with pictures; measures our code in the other mode, in each collapse and "
    "with\n"
    "              fewer blocks, and kernels that vote: takes three times as long\n"
    "  --min       minima instead of medians, for a busy machine\n"
    "  --mode      jit (default: code that knows the launch) or normal\n"
    "  --collapse  as ptxrun's; default auto\n"
    "  --dump      PTX, IR and assembly of the kernels to DIR\n"
    "  --cpu       code and C for another CPU, such as x86-64-v3, if this machine can run it\n"
    "  --tier      as ptxrun's: quick, or best (default)\n"
    "  --skip      as ptxrun's: our code without these steps\n";

/* A value of the product's option; false if it is none. */
static bool parse_collapse(const char *text, enum pxr_collapse *collapse)
{
    if (pxr_option_check(PXR_OPTION_COLLAPSE, text, NULL) != PXR_OK)
        return false;
    for (int i = 0; i < PXR_COLLAPSE_COUNT; i++) {
        *collapse = (enum pxr_collapse)i;
        if (strcmp(pxr_collapse_name(*collapse), text) == 0)
            return true;
    }
    return false;
}

static bool parse_mode(const char *text, enum pxr_mode *mode)
{
    *mode = strcmp(text, "normal") == 0 ? PXR_MODE_NORMAL : PXR_MODE_JIT;
    return *mode == PXR_MODE_NORMAL || strcmp(text, "jit") == 0;
}

/* Sets the variable of the product's option, which is read when the first kernel is compiled. */
static bool set_option(enum pxr_option_id id)
{
    struct pxr_error err;
    enum pxr_status status = pxr_option_check(id, optarg, &err);
    if (status == PXR_OK && id == PXR_OPTION_SKIP)
        status = tr_check_skip(optarg, &err);
    if (status != PXR_OK)
        fprintf(stderr, "ptxbench: %s\n", err.message);
    return status == PXR_OK && setenv(pxr_option_table[id].variable, optarg, 1) == 0;
}

static bool parse_option(int letter, struct options *options, const char **filter)
{
    switch (letter) {
    case 'H':
        options->is_help = true;
        return true;
    case 'f':
        *filter = optarg;
        return true;
    case 't':
        options->threads = optarg;
        return true;
    case 'j':
        options->json = optarg;
        return true;
    case 'h':
        options->html = optarg;
        options->wish.has_page = true;
        return true;
    case 'r':
        options->wish.rounds = (unsigned)strtoul(optarg, NULL, 10);
        return options->wish.rounds > 0 && options->wish.rounds <= TABLE_MAX_ROUNDS;
    case 'b':
        options->wish.by_min = true;
        return true;
    case 'm':
        return parse_mode(optarg, &options->wish.mode);
    case 'd':
        options->wish.dump_dir = optarg;
        return true;
    case 'p':
        return set_option(PXR_OPTION_CPU);
    case 'q':
        return set_option(PXR_OPTION_TIER);
    case 's':
        return set_option(PXR_OPTION_SKIP);
    case 'c':
        return parse_collapse(optarg, &options->wish.collapse);
    default:
        return false;
    }
}

static bool parse_command_line(int argc, char **argv, struct options *options)
{
    static const struct option long_options[] = {{"help", no_argument, NULL, 'H'},
                                                 {"threads", required_argument, NULL, 't'},
                                                 {"filter", required_argument, NULL, 'f'},
                                                 {"json", required_argument, NULL, 'j'},
                                                 {"html", required_argument, NULL, 'h'},
                                                 {"rounds", required_argument, NULL, 'r'},
                                                 {"min", no_argument, NULL, 'b'},
                                                 {"mode", required_argument, NULL, 'm'},
                                                 {"collapse", required_argument, NULL, 'c'},
                                                 {"dump", required_argument, NULL, 'd'},
                                                 {"cpu", required_argument, NULL, 'p'},
                                                 {"tier", required_argument, NULL, 'q'},
                                                 {"skip", required_argument, NULL, 's'},
                                                 {NULL, 0, NULL, 0}};
    const char *filter = "";
    for (int letter; (letter = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
        if (!parse_option(letter, options, &filter))
            return false;
    if (options->is_help)
        return true;
    return optind == argc && regcomp(&options->filter, filter, REG_EXTENDED | REG_NOSUB) == 0;
}

int table_main(int argc, char **argv)
{
    struct options options = {.threads = "1,0", .wish = {.mode = PXR_MODE_JIT, .rounds = 11}};
    if (!parse_command_line(argc, argv, &options)) {
        fputs(usage, stderr);
        return 2;
    }
    if (options.is_help) {
        fputs(usage, stdout);
        return 0;
    }
    /* OpenMP's threads stay where they are, as ptxrun's do, and look for work for a millisecond,
     * as long as the same version goes on; then they sleep. */
    setenv("KMP_BLOCKTIME", "1", 0);
    setenv("OMP_PROC_BIND", "close", 0);
    setenv("OMP_PLACES", "threads", 0);
    int exit_status = run_table(&options);
    regfree(&options.filter);
    return exit_status;
}
