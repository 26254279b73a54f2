/* SPDX-License-Identifier: Apache-2.0
 *
 * Widens loops over threads and compares what they do with what they did before
 * (tests/vector/README.md).
 *
 *   widen [--width N] [--jam N] [--bits N] [--seed KIND:SITE] [--print | --prepared]
 *         [--raw | --optimised | --poison] [--concise] [--like FILE] [--verbose] [--jobs N]
 *         FILE.ll…
 *   widen --random --seed S --count N [--source] …
 *   widen --defects [--excuses LIST | --known-size] [--share N] [--turns N] [--list | --verbose]
 *         [--jobs N] FILE.ll…
 */
#include "tests/tools/widen.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/turn.h"
#include "tests/vector/random_iteration.h"

#define MAX_JOBS     64
#define MAX_CONFIGS  1024
#define SHOWN        3 /* of the configurations of an iteration that are wrong */
#define RANDOM_SHARE 11

const char *const widen_kind_names[TR_VECTOR_SEED_COUNT] = {
    [TR_VECTOR_SEED_NONE] = "none",
    [TR_VECTOR_SEED_MASK] = "mask",
    [TR_VECTOR_SEED_STRIDE] = "stride",
    [TR_VECTOR_SEED_FREEZE] = "freeze",
};

/* ---- the command line ---- */

static int usage(void)
{
    fputs("usage: widen [--width N] [--jam N] [--bits N] [--skip STEP|all]... [--seed KIND:SITE]\n"
          "             [--print | --prepared] [--raw | --optimised | --poison] [--concise]\n"
          "             [--like FILE] [--verbose] [--jobs N] FILE.ll...\n"
          "       widen --random --seed S --count N [--source] ...\n"
          "       widen --defects [--excuses LIST | --known-size] [--share N] [--turns N]\n"
          "             [--list | --verbose] [--jobs N] FILE.ll...\n",
          stderr);
    return 2;
}

/* "mask:3", or a number for random iterations. */
static bool parse_seed(const char *text, struct widen_options *options)
{
    const char *colon = strchr(text, ':');
    options->first_seed = strtoull(text, NULL, 10);
    if (colon == NULL)
        return true;
    for (int kind = 1; kind < TR_VECTOR_SEED_COUNT; kind++)
        if (strncmp(text, widen_kind_names[kind], (size_t)(colon - text)) == 0)
            options->defect.seed = (enum tr_vector_seed)kind;
    options->defect.seed_site = (uint32_t)strtoul(colon + 1, NULL, 10);
    return options->defect.seed != TR_VECTOR_SEED_NONE;
}

/* A row of translator/vector/plan/tuning.def. */
static bool parse_skip(const char *text, struct widen_options *options)
{
    enum tr_tuning step = tr_find_tuning(text, strlen(text));
    if (strcmp(text, "all") == 0) {
        options->skipped = UINT32_MAX;
        return true;
    }
    if (step == TR_TUNING_COUNT)
        return false;
    options->skipped |= UINT32_C(1) << step;
    return true;
}

static bool parse_option(int letter, struct widen_options *options)
{
    uint32_t number = optarg == NULL ? 0 : (uint32_t)strtoul(optarg, NULL, 10);
    switch (letter) {
    case 'w':
        options->width = number;
        return true;
    case 'j':
        options->jam = number;
        return true;
    case 's':
        return parse_seed(optarg, options);
    case 'b':
        options->bits = number;
        return number == 128 || number == 256 || number == 512;
    case 'k':
        return parse_skip(optarg, options);
    case 'c':
        options->count = number;
        return true;
    case 'l':
        options->like = optarg;
        return true;
    case 'e':
        options->excuses_path = optarg;
        return true;
    case 'n':
        options->jobs = number;
        return number >= 1 && number <= MAX_JOBS;
    case 'h':
        options->share = number;
        return number >= 1;
    case 't':
        options->turns = number;
        return number >= 1;
    default:
        return letter == 0;
    }
}

static bool parse_options(int argc, char **argv, struct widen_options *options)
{
    enum {
        PRINT = 1,
        PREPARED,
        SOURCE,
        RAW,
        TUNED,
        POISON,
        RANDOM,
        DEFECTS,
        LIST,
        WORDY,
        SIZED,
        CONCISE,
        FLAGS
    };
    static int flags[FLAGS];
    static const struct option table[] = {{"width", required_argument, NULL, 'w'},
                                          {"jam", required_argument, NULL, 'j'},
                                          {"bits", required_argument, NULL, 'b'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"skip", required_argument, NULL, 'k'},
                                          {"count", required_argument, NULL, 'c'},
                                          {"like", required_argument, NULL, 'l'},
                                          {"jobs", required_argument, NULL, 'n'},
                                          {"share", required_argument, NULL, 'h'},
                                          {"turns", required_argument, NULL, 't'},
                                          {"excuses", required_argument, NULL, 'e'},
                                          {"print", no_argument, &flags[PRINT], 1},
                                          {"prepared", no_argument, &flags[PREPARED], 1},
                                          {"source", no_argument, &flags[SOURCE], 1},
                                          {"raw", no_argument, &flags[RAW], 1},
                                          {"optimised", no_argument, &flags[TUNED], 1},
                                          {"random", no_argument, &flags[RANDOM], 1},
                                          {"defects", no_argument, &flags[DEFECTS], 1},
                                          {"list", no_argument, &flags[LIST], 1},
                                          {"known-size", no_argument, &flags[SIZED], 1},
                                          {"poison", no_argument, &flags[POISON], 1},
                                          {"concise", no_argument, &flags[CONCISE], 1},
                                          {"verbose", no_argument, &flags[WORDY], 1},
                                          {0}};
    *options = (struct widen_options){
        .width = WIDEN_ANY, .jam = WIDEN_ANY, .jobs = 1, .turns = 1, .count = 1};
    int letter;
    while ((letter = getopt_long(argc, argv, "", table, NULL)) != -1)
        if (!parse_option(letter, options))
            return false;
    options->prints_widened = flags[PRINT];
    options->prints_prepared = flags[PREPARED];
    options->prints_source = flags[SOURCE];
    options->is_raw_only = flags[RAW];
    options->is_optimised_only = flags[TUNED];
    options->is_poisoned = flags[POISON];
    options->is_concise = flags[CONCISE];
    options->is_random = flags[RANDOM];
    options->is_defects = flags[DEFECTS];
    options->is_list = flags[LIST];
    options->is_verbose = flags[WORDY];
    options->is_size_known = flags[SIZED];
    options->files = argv + optind;
    if (options->is_defects && options->bits == 0)
        options->bits = WIDEN_DEFECT_BITS;
    if (options->share == 0)
        options->share = options->is_random ? RANDOM_SHARE : 1;
    if (!options->is_random)
        options->count = (unsigned)(argc - optind);
    if (options->excuses_path != NULL && !widen_may_be_excused(options))
        return false;
    return options->is_random ? optind == argc : optind < argc;
}

/* ---- configurations ---- */

/* In every other one LLVM's passes run on what comes out: they believe all that it says. */
static void add_config(const struct widen_options *options, struct iteration_config config,
                       struct iteration_config *configs, uint32_t *count)
{
    if (options->is_raw_only)
        config.is_optimised = false;
    if (options->is_optimised_only)
        config.is_optimised = true;
    if (options->is_poisoned) {
        config.is_optimised = false;
        config.is_poisoned = true;
    }
    config.is_concise = options->is_concise;
    config.vector_bits = options->bits;
    config.skipped = options->skipped;
    config.seed = options->defect.seed;
    config.seed_site = options->defect.seed_site;
    if (*count == MAX_CONFIGS) {
        fputs("more configurations than there is room for\n", stderr);
        exit(2);
    }
    configs[(*count)++] = config;
}

static bool is_wanted(uint32_t wanted, uint32_t value)
{
    return wanted == WIDEN_ANY || wanted == value;
}

/* Every width with every number of copies, with sizes that are not known, and with one or another
 * that is. */
static uint32_t list_configs(const struct widen_options *options, const struct iteration_case *c,
                             struct iteration_config *configs)
{
    static const uint32_t widths[] = {2, 4, 8, 16, 32, 64};
    static const uint32_t jams[] = {1, 2, 4, 8};
    uint32_t count = 0;
    uint32_t sizes = iteration_case_size_count(c);
    struct iteration_config config = {0};
    for (uint32_t w = 0; w < 6; w++)
        for (uint32_t j = 0; j < 4; j++) {
            config.width = widths[w];
            config.jam = jams[j];
            bool is_all = options->width != WIDEN_ANY || options->jam != WIDEN_ANY;
            if (!is_wanted(options->width, config.width) || !is_wanted(options->jam, config.jam) ||
                config.width * config.jam > 128)
                continue;
            config.is_size_known = false;
            config.is_optimised = (w + j) % 2;
            if (j != 2 || c->is_row_only || is_all)
                add_config(options, config, configs, &count);
            config.is_size_known = true;
            for (uint32_t n = 0; n < (is_all ? sizes : 2); n++) {
                config.known_size = is_all ? n : (sizes - 1) - (3 * w + 7 * j + 4 * n) % sizes;
                config.is_optimised = (w + j + n) % 2;
                if (iteration_case_size(c, config.known_size).nx > 1) /* no loop otherwise */
                    add_config(options, config, configs, &count);
            }
        }
    config = (struct iteration_config){.is_optimised = true};
    config.width = options->width == WIDEN_ANY ? 0 : options->width;
    config.jam = options->jam == WIDEN_ANY ? 0 : options->jam;
    if (count == 0 || (options->width == WIDEN_ANY && options->jam == WIDEN_ANY))
        add_config(options, config, configs, &count);
    return count;
}

/* One in so many of them, others for other iterations. */
static uint32_t thin_out(struct iteration_config *configs, uint32_t count, unsigned share,
                         uint64_t number)
{
    uint32_t kept = 0;
    if (count < share)
        return count;
    for (uint32_t n = (uint32_t)(number % share); n < count; n += share)
        configs[kept++] = configs[n];
    return kept;
}

uint32_t widen_uneven_size(const struct iteration_case *c, uint32_t width)
{
    uint32_t best = 0;
    uint32_t best_threads = 0;
    for (uint32_t n = 0; n < iteration_case_size_count(c); n++) {
        struct iteration_size size = iteration_case_size(c, n);
        if (size.nx % width != 0 && size.nx * size.ny > best_threads) {
            best = n;
            best_threads = size.nx * size.ny;
        }
    }
    return best;
}

/* ---- one iteration ---- */

static enum pxr_status load(const struct widen_options *options, unsigned number,
                            struct iteration_case *c, struct pxr_error *err)
{
    if (options->is_random)
        return random_iteration(c, options->first_seed + number, err);
    enum pxr_status status = iteration_case_load(c, options->files[number], err);
    if (options->like == NULL || status != PXR_OK)
        return status;
    struct iteration_case like;
    status = iteration_case_load(&like, options->like, err);
    if (status == PXR_OK)
        status = iteration_case_parse(c, like.text, err);
    iteration_case_fini(&like);
    return status;
}

void widen_print_config(const struct iteration_case *c, const struct iteration_config *config)
{
    struct iteration_size size = iteration_case_size(c, config->known_size);
    printf("width %u jam %u", config->width, config->jam);
    if (config->is_size_known)
        printf(" of %ux%u", size.nx, size.ny);
    printf("%s%s%s", config->is_optimised ? " optimised" : "",
           config->is_poisoned ? " poisoned" : "", config->is_concise ? " concise" : "");
    if (config->seed != TR_VECTOR_SEED_NONE)
        printf(" %s:%u", widen_kind_names[config->seed], config->seed_site);
}

static void print_outcome(const struct iteration_case *c, const struct iteration_config *config,
                          const struct iteration_outcome *outcome)
{
    printf("%s %s: ", outcome->is_right ? "ok   " : "WRONG", c->name);
    widen_print_config(c, config);
    if (config->width == 0 && outcome->is_widened)
        printf(" (chosen: %u x %u)", outcome->width, outcome->jam);
    printf("%s%s\n", outcome->message[0] ? ": " : "", outcome->message);
}

/* Those in which it makes a difference that steps are skipped; the others are tested without. */
static uint32_t with_skipped(const struct iteration_case *c, struct iteration_config *configs,
                             uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t n = 0; n < count; n++) {
        struct iteration_config with_all = configs[n];
        with_all.skipped = 0;
        if (configs[n].skipped == 0 || !iteration_becomes_same(c, &configs[n], &with_all))
            configs[kept++] = configs[n];
    }
    return kept;
}

static void compare_iteration(const struct widen_options *options, unsigned number,
                              const struct iteration_case *c, struct widen_tally *tally)
{
    struct pxr_error err = {0};
    struct iteration_config configs[MAX_CONFIGS];
    uint32_t count = list_configs(options, c, configs);
    unsigned shown = 0;
    count = thin_out(configs, count, options->share, options->first_seed + number);
    count = with_skipped(c, configs, count);
    if (count == 0)
        return;
    struct iteration_outcome *outcomes = calloc(count, sizeof *outcomes);
    if (outcomes == NULL || iteration_attempt(c, configs, count, outcomes, &err) != PXR_OK) {
        printf("BAD   %s: %s\n", c->name, err.message);
        tally->bad_iterations++;
        count = 0;
    }
    for (uint32_t n = 0; n < count; n++) {
        tally->configs++;
        tally->wrong += !outcomes[n].is_right;
        tally->widened += outcomes[n].is_widened;
        shown += !outcomes[n].is_right;
        if ((!outcomes[n].is_right && shown <= SHOWN) || options->is_verbose)
            print_outcome(c, &configs[n], &outcomes[n]);
    }
    if (shown > SHOWN && !options->is_verbose)
        printf("      %s: and %u more\n", c->name, shown - SHOWN);
    free(outcomes);
}

/* ---- all of them ---- */

static void run_job(const struct widen_options *options, unsigned first, struct widen_tally *tally)
{
    for (unsigned number = first; number < options->count; number += options->jobs) {
        struct iteration_case c = {0};
        struct pxr_error err = {0};
        if (!turn_has(number, options->turns))
            continue;
        tally->iterations++;
        if (load(options, number, &c, &err) != PXR_OK) {
            printf("BAD   %s\n", err.message);
            tally->bad_iterations++;
        } else if (options->is_defects) {
            widen_seed_iteration(options, number, &c, tally);
        } else {
            compare_iteration(options, number, &c, tally);
        }
        iteration_case_fini(&c);
    }
    iteration_attempt_end();
    fflush(stdout);
}

static bool run_jobs(const struct widen_options *options, struct widen_tally *tallies)
{
    pid_t children[MAX_JOBS];
    bool is_good = true;
    for (unsigned n = 0; n < options->jobs; n++) {
        fflush(stdout);
        children[n] = fork();
        if (children[n] == 0) {
            setvbuf(stdout, NULL, _IOLBF, 0);
            run_job(options, n, &tallies[n]);
            _exit(0);
        }
    }
    for (unsigned n = 0; n < options->jobs; n++) {
        int status = 0;
        is_good &= children[n] > 0 && waitpid(children[n], &status, 0) > 0 && status == 0;
    }
    return is_good;
}

static int report(const struct widen_options *options, const struct widen_tally *tallies,
                  bool is_good)
{
    struct widen_tally sum = {0};
    for (unsigned job = 0; job < options->jobs; job++)
        for (size_t n = 0; n < sizeof sum / sizeof(unsigned); n++)
            ((unsigned *)&sum)[n] += ((const unsigned *)&tallies[job])[n];
    unsigned missed = 0;
    turn_print(options->turns);
    printf("%u iterations, %u of them bad\n", sum.iterations, sum.bad_iterations);
    if (!options->is_defects)
        printf("%u configurations, %u widened, %u wrong\n", sum.configs, sum.widened, sum.wrong);
    if (options->is_defects)
        missed = widen_report_defects(&sum);
    return is_good && sum.bad_iterations + sum.wrong + missed == 0 ? 0 : 1;
}

static int print(const struct widen_options *options)
{
    struct iteration_case c;
    struct pxr_error err = {0};
    struct iteration_config config = {.width = options->width == WIDEN_ANY ? 4 : options->width,
                                      .jam = options->jam == WIDEN_ANY ? 1 : options->jam,
                                      .is_optimised = options->is_optimised_only,
                                      .is_poisoned = options->is_poisoned,
                                      .is_concise = options->is_concise,
                                      .vector_bits = options->bits,
                                      .skipped = options->skipped,
                                      .seed = options->defect.seed,
                                      .seed_site = options->defect.seed_site};
    enum pxr_status status = load(options, 0, &c, &err);
    config.is_size_known = options->is_size_known;
    config.known_size = widen_uneven_size(&c, config.width);
    if (status == PXR_OK && options->prints_source) {
        iteration_case_print(&c);
        fputs(c.text, stdout);
    } else if (status == PXR_OK) {
        status = iteration_print(&c, &config, options->prints_prepared, &err);
    }
    if (status != PXR_OK)
        fprintf(stderr, "widen: %s\n", err.message);
    iteration_case_fini(&c);
    return status == PXR_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct widen_options options;
    if (!parse_options(argc, argv, &options))
        return usage();
    if (options.prints_widened || options.prints_prepared || options.prints_source)
        return print(&options);
    struct widen_tally *tallies = mmap(NULL, sizeof *tallies * MAX_JOBS, PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tallies == MAP_FAILED || !widen_load_excuses(&options))
        return 2;
    bool is_good = run_jobs(&options, tallies);
    excuses_fini(&options.excuses);
    return report(&options, tallies, is_good);
}
