/* SPDX-License-Identifier: Apache-2.0
 *
 * Widens loops over threads and compares what they do with what they did before
 * (tests/vector/README.md).
 *
 *   widen [--width N] [--jam N] [--bits N] [--seed KIND:SITE] [--print | --prepared]
 *         [--raw | --optimised | --poison] [--like FILE] [--verbose] [--jobs N] FILE.ll…
 *   widen --random --seed S --count N [--source] …
 *   widen --defects [--excuses LIST | --known-size] [--share N] [--list | --verbose] [--jobs N]
 *         FILE.ll…
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/excuses.h"
#include "tests/vector/iteration_attempt.h"
#include "tests/vector/random_iteration.h"

#define MAX_JOBS     64
#define MAX_CONFIGS  128
#define SHOWN        3 /* of the configurations of an iteration that are wrong */
#define RANDOM_SHARE 11
#define DEFECT_BITS  512 /* whatever the machine has: so that places are the same everywhere */
#define NO_SITE      UINT32_MAX
#define ANY          UINT32_MAX

static const char *const kind_names[TR_VECTOR_SEED_COUNT] = {
    [TR_VECTOR_SEED_NONE] = "none",
    [TR_VECTOR_SEED_MASK] = "mask",
    [TR_VECTOR_SEED_STRIDE] = "stride",
    [TR_VECTOR_SEED_FREEZE] = "freeze",
};

struct options {
    uint32_t width, jam; /* ANY: all */
    uint32_t bits;       /* of vector registers; 0: the host's */
    uint32_t skipped;    /* steps of tuning: 1 << enum tr_tuning */
    struct iteration_config defect;
    bool prints_widened, prints_prepared, prints_source;
    bool is_raw_only, is_optimised_only, is_poisoned;
    bool is_random, is_defects, is_verbose, is_size_known, is_list;
    const char *excuses_path;
    struct excuses excuses; /* of defects that no run can show, by "case kind" */
    const char *like;       /* its comments are read instead of the file's */
    unsigned jobs, share;   /* of configurations, or of places, one in so many */
    uint64_t first_seed;
    unsigned count; /* of random iterations, or of files */
    char **files;
};

struct tally {
    unsigned iterations, bad_iterations, configs, wrong, widened;
    unsigned fates[TR_VECTOR_SEED_COUNT][5];
};

/* ---- the command line ---- */

static int usage(void)
{
    fputs(
        "usage: widen [--width N] [--jam N] [--bits N] [--skip STEP|all]... [--seed KIND:SITE]\n"
        "             [--print | --prepared] [--raw | --optimised | --poison] [--like FILE]\n"
        "             [--verbose] [--jobs N] FILE.ll...\n"
        "       widen --random --seed S --count N [--source] ...\n"
        "       widen --defects [--excuses LIST | --known-size] [--share N] [--list | --verbose]\n"
        "             [--jobs N] FILE.ll...\n",
        stderr);
    return 2;
}

/* "mask:3", or a number for random iterations. */
static bool parse_seed(const char *text, struct options *options)
{
    const char *colon = strchr(text, ':');
    options->first_seed = strtoull(text, NULL, 10);
    if (colon == NULL)
        return true;
    for (int kind = 1; kind < TR_VECTOR_SEED_COUNT; kind++)
        if (strncmp(text, kind_names[kind], (size_t)(colon - text)) == 0)
            options->defect.seed = (enum tr_vector_seed)kind;
    options->defect.seed_site = (uint32_t)strtoul(colon + 1, NULL, 10);
    return options->defect.seed != TR_VECTOR_SEED_NONE;
}

/* Places are numbered as they are with the usual settings. */
static bool may_be_excused(const struct options *options)
{
    return options->is_defects && options->width == ANY && options->jam == ANY &&
           options->bits == DEFECT_BITS && options->skipped == 0 && !options->is_size_known &&
           !options->is_random;
}

/* A row of translator/vector/plan/tuning.def. */
static bool parse_skip(const char *text, struct options *options)
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

static bool parse_option(int letter, struct options *options)
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
    default:
        return letter == 0;
    }
}

static bool parse_options(int argc, char **argv, struct options *options)
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
                                          {"verbose", no_argument, &flags[WORDY], 1},
                                          {0}};
    *options = (struct options){.width = ANY, .jam = ANY, .jobs = 1, .count = 1};
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
    options->is_random = flags[RANDOM];
    options->is_defects = flags[DEFECTS];
    options->is_list = flags[LIST];
    options->is_verbose = flags[WORDY];
    options->is_size_known = flags[SIZED];
    options->files = argv + optind;
    if (options->is_defects && options->bits == 0)
        options->bits = DEFECT_BITS;
    if (options->share == 0)
        options->share = options->is_random ? RANDOM_SHARE : 1;
    if (!options->is_random)
        options->count = (unsigned)(argc - optind);
    if (options->excuses_path != NULL && !may_be_excused(options))
        return false;
    return options->is_random ? optind == argc : optind < argc;
}

/* ---- configurations ---- */

/* In every other one LLVM's passes run on what comes out: they believe all that it says. */
static void add_config(const struct options *options, struct iteration_config config,
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
    config.vector_bits = options->bits;
    config.skipped = options->skipped;
    config.seed = options->defect.seed;
    config.seed_site = options->defect.seed_site;
    configs[(*count)++] = config;
}

static bool is_wanted(uint32_t wanted, uint32_t value)
{
    return wanted == ANY || wanted == value;
}

/* Every width with every number of copies, with sizes that are not known, and with one or another
 * that is. */
static uint32_t list_configs(const struct options *options, const struct iteration_case *c,
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
            bool is_all = options->width != ANY || options->jam != ANY;
            if (!is_wanted(options->width, config.width) || !is_wanted(options->jam, config.jam) ||
                config.width * config.jam > 128)
                continue;
            config.is_size_known = false;
            config.is_optimised = (w + j) % 2;
            if (j != 2 || c->is_row_only || is_all)
                add_config(options, config, configs, &count);
            config.is_size_known = true;
            for (uint32_t n = 0; n < (is_all ? sizes : 2) && count + 2 < MAX_CONFIGS; n++) {
                config.known_size = is_all ? n : (sizes - 1) - (3 * w + 7 * j + 4 * n) % sizes;
                config.is_optimised = (w + j + n) % 2;
                if (iteration_case_size(c, config.known_size).nx > 1) /* no loop otherwise */
                    add_config(options, config, configs, &count);
            }
        }
    config = (struct iteration_config){.is_optimised = true};
    config.width = options->width == ANY ? 0 : options->width;
    config.jam = options->jam == ANY ? 0 : options->jam;
    if (count == 0 || (options->width == ANY && options->jam == ANY))
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

/* A size with vectors side by side, and lanes that are left over. */
static uint32_t uneven_size(const struct iteration_case *c, uint32_t width)
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

static enum pxr_status load(const struct options *options, unsigned number,
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

static void print_config(const struct iteration_case *c, const struct iteration_config *config)
{
    struct iteration_size size = iteration_case_size(c, config->known_size);
    printf("width %u jam %u", config->width, config->jam);
    if (config->is_size_known)
        printf(" of %ux%u", size.nx, size.ny);
    printf("%s%s", config->is_optimised ? " optimised" : "",
           config->is_poisoned ? " poisoned" : "");
    if (config->seed != TR_VECTOR_SEED_NONE)
        printf(" %s:%u", kind_names[config->seed], config->seed_site);
}

static void print_outcome(const struct iteration_case *c, const struct iteration_config *config,
                          const struct iteration_outcome *outcome)
{
    printf("%s %s: ", outcome->is_right ? "ok   " : "WRONG", c->name);
    print_config(c, config);
    if (config->width == 0 && outcome->is_widened)
        printf(" (chosen: %u x %u)", outcome->width, outcome->jam);
    printf("%s%s\n", outcome->message[0] ? ": " : "", outcome->message);
}

static void compare_iteration(const struct options *options, unsigned number,
                              const struct iteration_case *c, struct tally *tally)
{
    struct pxr_error err = {0};
    struct iteration_config configs[MAX_CONFIGS];
    uint32_t count = list_configs(options, c, configs);
    unsigned shown = 0;
    count = thin_out(configs, count, options->share, options->first_seed + number);
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

/* ---- defects ---- */

/* What became of a defect. */
enum fate { CAUGHT, SAME_CODE, EXCUSED, MISSED, STALE, FATES };

static const char *const fate_names[FATES] = {
    [CAUGHT] = "caught", [SAME_CODE] = "same code",       [EXCUSED] = "excused",
    [MISSED] = "missed", [STALE] = "excused for nothing",
};

/* The places of one kind in one iteration. */
struct defects {
    struct iteration_config config; /* without the site */
    uint64_t code;                  /* of the nest without a defect */
    char key[EXCUSE_KEY_BYTES];     /* of their excuses */
};

static enum fate judge(const struct options *options, const struct defects *defects, uint32_t site,
                       const struct iteration_outcome *outcome)
{
    bool is_excused = excuses_find(&options->excuses, defects->key, site) != NULL;
    bool is_same = outcome->code == defects->code && outcome->code != 0;
    if (!outcome->is_right || is_same)
        return is_excused ? STALE : is_same ? SAME_CODE : CAUGHT;
    return is_excused ? EXCUSED : MISSED;
}

static void note_fate(const struct options *options, const struct iteration_case *c,
                      const struct iteration_config *config,
                      const struct iteration_outcome *outcome, enum fate fate, struct tally *tally)
{
    tally->fates[config->seed][fate]++;
    if (!options->is_verbose && fate != STALE && (fate != MISSED || options->is_list))
        return;
    printf("%s: %s, ", fate_names[fate], c->name);
    print_config(c, config);
    printf("%s%s\n", outcome->message[0] ? ": " : "", outcome->message);
}

/* Of all places that were tried: the lines that excuse those that nothing has shown. */
static void list_sites(const struct options *options, const struct defects *defects,
                       const struct iteration_config *configs, const enum fate *fates,
                       uint32_t count)
{
    uint32_t *sites = calloc(count + 1, sizeof *sites);
    uint32_t listed = 0;
    for (uint32_t n = 0; sites != NULL && n < count; n++)
        if (fates[n] == EXCUSED || fates[n] == MISSED)
            sites[listed++] = configs[n].seed_site;
    if (sites != NULL)
        excuses_print(&options->excuses, defects->key, sites, listed);
    free(sites);
}

/* number: the iteration's; of different ones other places are tried if not all are. */
static void seed_sites(const struct options *options, unsigned number,
                       const struct iteration_case *c, struct defects *defects, uint32_t sites,
                       struct tally *tally)
{
    struct pxr_error err = {0};
    uint32_t count = 0;
    struct iteration_config *configs = calloc(sites + 1, sizeof *configs);
    struct iteration_outcome *outcomes = calloc(sites + 1, sizeof *outcomes);
    enum fate *fates = calloc(sites + 1, sizeof *fates);
    for (uint32_t site = number % options->share; configs != NULL && site < sites;
         site += options->share) {
        defects->config.seed_site = site;
        configs[count++] = defects->config;
    }
    if (outcomes == NULL || fates == NULL ||
        iteration_attempt(c, configs, count, outcomes, &err) != PXR_OK) {
        printf("BAD   %s: %s\n", c->name, err.message);
        tally->bad_iterations++;
        count = 0;
    }
    for (uint32_t n = 0; n < count; n++) {
        fates[n] = judge(options, defects, configs[n].seed_site, &outcomes[n]);
        note_fate(options, c, &configs[n], &outcomes[n], fates[n], tally);
    }
    if (options->is_list)
        list_sites(options, defects, configs, fates, count);
    free(configs);
    free(outcomes);
    free(fates);
}

static void seed_kind(const struct options *options, unsigned number,
                      const struct iteration_case *c, const struct iteration_config *config,
                      const struct iteration_outcome *whole, struct tally *tally)
{
    struct defects defects = {.config = *config, .code = whole->code};
    if (!whole->is_right) {
        printf("WRONG without a defect: %s: %s\n", c->name, whole->message);
        tally->wrong++;
        return;
    }
    snprintf(defects.key, sizeof defects.key, "%s %s", c->name, kind_names[config->seed]);
    uint32_t limit = excuses_limit(&options->excuses, defects.key);
    if (limit > whole->seed_sites) {
        printf("excused for nothing: %s has %u places, and no place %u\n", defects.key,
               whole->seed_sites, limit - 1);
        tally->fates[config->seed][STALE]++;
    }
    seed_sites(options, number, c, &defects, whole->seed_sites, tally);
}

static void seed_iteration(const struct options *options, unsigned number,
                           const struct iteration_case *c, struct tally *tally)
{
    struct pxr_error err = {0};
    struct iteration_outcome outcomes[TR_VECTOR_SEED_COUNT];
    struct iteration_config configs[TR_VECTOR_SEED_COUNT];
    uint32_t width = options->width == ANY ? 4 : options->width;
    for (int kind = 0; kind < TR_VECTOR_SEED_COUNT; kind++)
        configs[kind] = (struct iteration_config){.width = width,
                                                  .jam = options->jam == ANY ? 2 : options->jam,
                                                  .vector_bits = options->bits,
                                                  .skipped = options->skipped,
                                                  .is_size_known = options->is_size_known,
                                                  .known_size = uneven_size(c, width),
                                                  .is_poisoned = true,
                                                  .is_code_kept = true,
                                                  .seed = (enum tr_vector_seed)kind,
                                                  .seed_site = NO_SITE};
    bool is_good = iteration_attempt(c, configs, TR_VECTOR_SEED_COUNT, outcomes, &err) == PXR_OK;
    for (int kind = 1; kind < TR_VECTOR_SEED_COUNT && is_good; kind++)
        seed_kind(options, number, c, &configs[kind], &outcomes[kind], tally);
    if (!is_good)
        printf("BAD   %s: %s\n", c->name, err.message);
    tally->bad_iterations += !is_good;
}

static bool is_kind(const char *name)
{
    for (int kind = 1; kind < TR_VECTOR_SEED_COUNT; kind++)
        if (strcmp(name, kind_names[kind]) == 0)
            return true;
    return false;
}

/* Excuses are for kinds that there are, of cases that lie beside the first one. */
static bool are_for_cases(const struct options *options)
{
    bool is_good = true;
    const char *slash = strrchr(options->files[0], '/');
    int folder_len = slash == NULL ? 0 : (int)(slash + 1 - options->files[0]);
    for (size_t n = 0; n < options->excuses.count; n++) {
        char path[1024];
        const char *key = options->excuses.list[n].key;
        const char *space = strchr(key, ' ');
        int name_len = space == NULL ? 0 : (int)(space - key);
        snprintf(path, sizeof path, "%.*s%.*s.ll", folder_len, options->files[0], name_len, key);
        if (space != NULL && is_kind(space + 1) && access(path, R_OK) == 0)
            continue;
        printf("excused for nothing: there is no case or kind '%s'\n", key);
        is_good = false;
    }
    return is_good;
}

static bool load_excuses(struct options *options)
{
    struct pxr_error err = {0};
    if (options->excuses_path == NULL)
        return true;
    if (excuses_load(&options->excuses, options->excuses_path, &err) == PXR_OK)
        return are_for_cases(options);
    fprintf(stderr, "widen: %s\n", err.message);
    return false;
}

/* ---- all of them ---- */

static void run_job(const struct options *options, unsigned first, struct tally *tally)
{
    for (unsigned number = first; number < options->count; number += options->jobs) {
        struct iteration_case c = {0};
        struct pxr_error err = {0};
        tally->iterations++;
        if (load(options, number, &c, &err) != PXR_OK) {
            printf("BAD   %s\n", err.message);
            tally->bad_iterations++;
        } else if (options->is_defects) {
            seed_iteration(options, number, &c, tally);
        } else {
            compare_iteration(options, number, &c, tally);
        }
        iteration_case_fini(&c);
    }
    fflush(stdout);
}

static bool run_jobs(const struct options *options, struct tally *tallies)
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

static int report(const struct options *options, const struct tally *tallies, bool is_good)
{
    struct tally sum = {0};
    for (unsigned job = 0; job < options->jobs; job++)
        for (size_t n = 0; n < sizeof sum / sizeof(unsigned); n++)
            ((unsigned *)&sum)[n] += ((const unsigned *)&tallies[job])[n];
    unsigned missed = 0;
    printf("%u iterations, %u of them bad\n", sum.iterations, sum.bad_iterations);
    if (!options->is_defects)
        printf("%u configurations, %u widened, %u wrong\n", sum.configs, sum.widened, sum.wrong);
    for (int kind = 1; kind < TR_VECTOR_SEED_COUNT && options->is_defects; kind++) {
        const unsigned *fates = sum.fates[kind];
        printf("%-8s", kind_names[kind]);
        for (int fate = 0; fate < FATES; fate++)
            printf("%s %u %s", fate ? "," : "", fates[fate], fate_names[fate]);
        printf("\n");
        missed += fates[MISSED] + fates[STALE];
    }
    return is_good && sum.bad_iterations + sum.wrong + missed == 0 ? 0 : 1;
}

static int print(const struct options *options)
{
    struct iteration_case c;
    struct pxr_error err = {0};
    struct iteration_config config = {.width = options->width == ANY ? 4 : options->width,
                                      .jam = options->jam == ANY ? 1 : options->jam,
                                      .is_optimised = options->is_optimised_only,
                                      .is_poisoned = options->is_poisoned,
                                      .vector_bits = options->bits,
                                      .skipped = options->skipped,
                                      .seed = options->defect.seed,
                                      .seed_site = options->defect.seed_site};
    enum pxr_status status = load(options, 0, &c, &err);
    config.is_size_known = options->is_size_known;
    config.known_size = uneven_size(&c, config.width);
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
    struct options options;
    if (!parse_options(argc, argv, &options))
        return usage();
    if (options.prints_widened || options.prints_prepared || options.prints_source)
        return print(&options);
    struct tally *tallies = mmap(NULL, sizeof *tallies * MAX_JOBS, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tallies == MAP_FAILED || !load_excuses(&options))
        return 2;
    bool is_good = run_jobs(&options, tallies);
    excuses_fini(&options.excuses);
    return report(&options, tallies, is_good);
}
