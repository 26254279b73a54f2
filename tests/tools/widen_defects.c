/* SPDX-License-Identifier: Apache-2.0
 *
 * Defects of the vectoriser, one at a time in every place of an iteration, each of which a run must
 * show if the list does not excuse it.
 */
#include "tests/tools/widen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_SITE UINT32_MAX

bool widen_may_be_excused(const struct widen_options *options)
{
    return options->is_defects && options->width == WIDEN_ANY && options->jam == WIDEN_ANY &&
           options->bits == WIDEN_DEFECT_BITS && options->skipped == 0 && !options->is_size_known &&
           !options->is_random;
}

static const char *const fate_names[WIDEN_FATES] = {
    [WIDEN_CAUGHT] = "caught", [WIDEN_SAME_CODE] = "same code",       [WIDEN_EXCUSED] = "excused",
    [WIDEN_MISSED] = "missed", [WIDEN_STALE] = "excused for nothing",
};

/* The places of one kind in one iteration. */
struct defects {
    struct iteration_config config; /* without the site */
    uint64_t code;                  /* of the nest without a defect */
    char key[EXCUSE_KEY_BYTES];     /* of their excuses */
};

static enum widen_fate judge(const struct widen_options *options, const struct defects *defects,
                             uint32_t site, const struct iteration_outcome *outcome)
{
    bool is_excused = excuses_find(&options->excuses, defects->key, site) != NULL;
    bool is_same = outcome->code == defects->code && outcome->code != 0;
    if (!outcome->is_right || is_same)
        return is_excused ? WIDEN_STALE : is_same ? WIDEN_SAME_CODE : WIDEN_CAUGHT;
    return is_excused ? WIDEN_EXCUSED : WIDEN_MISSED;
}

static void note_fate(const struct widen_options *options, const struct iteration_case *c,
                      const struct iteration_config *config,
                      const struct iteration_outcome *outcome, enum widen_fate fate,
                      struct widen_tally *tally)
{
    tally->fates[config->seed][fate]++;
    if (!options->is_verbose && fate != WIDEN_STALE && (fate != WIDEN_MISSED || options->is_list))
        return;
    printf("%s: %s, ", fate_names[fate], c->name);
    widen_print_config(c, config);
    printf("%s%s\n", outcome->message[0] ? ": " : "", outcome->message);
}

/* Of all places that were tried: the lines that excuse those that nothing has shown. */
static void list_sites(const struct widen_options *options, const struct defects *defects,
                       const struct iteration_config *configs, const enum widen_fate *fates,
                       uint32_t count)
{
    uint32_t *sites = calloc(count + 1, sizeof *sites);
    uint32_t listed = 0;
    for (uint32_t n = 0; sites != NULL && n < count; n++)
        if (fates[n] == WIDEN_EXCUSED || fates[n] == WIDEN_MISSED)
            sites[listed++] = configs[n].seed_site;
    if (sites != NULL)
        excuses_print(&options->excuses, defects->key, sites, listed);
    free(sites);
}

/* number: the iteration's; of different ones other places are tried if not all are. */
static void seed_sites(const struct widen_options *options, unsigned number,
                       const struct iteration_case *c, struct defects *defects, uint32_t sites,
                       struct widen_tally *tally)
{
    struct pxr_error err = {0};
    uint32_t count = 0;
    struct iteration_config *configs = calloc(sites + 1, sizeof *configs);
    struct iteration_outcome *outcomes = calloc(sites + 1, sizeof *outcomes);
    enum widen_fate *fates = calloc(sites + 1, sizeof *fates);
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

static void seed_kind(const struct widen_options *options, unsigned number,
                      const struct iteration_case *c, const struct iteration_config *config,
                      const struct iteration_outcome *whole, struct widen_tally *tally)
{
    struct defects defects = {.config = *config, .code = whole->code};
    if (!whole->is_right) {
        printf("WRONG without a defect: %s: %s\n", c->name, whole->message);
        tally->wrong++;
        return;
    }
    snprintf(defects.key, sizeof defects.key, "%s %s", c->name, widen_kind_names[config->seed]);
    uint32_t limit = excuses_limit(&options->excuses, defects.key);
    if (limit > whole->seed_sites) {
        printf("excused for nothing: %s has %u places, and no place %u\n", defects.key,
               whole->seed_sites, limit - 1);
        tally->fates[config->seed][WIDEN_STALE]++;
    }
    seed_sites(options, number, c, &defects, whole->seed_sites, tally);
}

void widen_seed_iteration(const struct widen_options *options, unsigned number,
                          const struct iteration_case *c, struct widen_tally *tally)
{
    struct pxr_error err = {0};
    struct iteration_outcome outcomes[TR_VECTOR_SEED_COUNT];
    struct iteration_config configs[TR_VECTOR_SEED_COUNT];
    uint32_t width = options->width == WIDEN_ANY ? 4 : options->width;
    for (int kind = 0; kind < TR_VECTOR_SEED_COUNT; kind++)
        configs[kind] =
            (struct iteration_config){.width = width,
                                      .jam = options->jam == WIDEN_ANY ? 2 : options->jam,
                                      .vector_bits = options->bits,
                                      .skipped = options->skipped,
                                      .is_size_known = options->is_size_known,
                                      .known_size = widen_uneven_size(c, width),
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
        if (strcmp(name, widen_kind_names[kind]) == 0)
            return true;
    return false;
}

bool widen_load_excuses(struct widen_options *options)
{
    struct pxr_error err = {0};
    if (options->excuses_path == NULL)
        return true;
    if (excuses_load(&options->excuses, options->excuses_path, &err) != PXR_OK) {
        fprintf(stderr, "widen: %s\n", err.message);
        return false;
    }
    bool are_known = excuses_are_for(&options->excuses, options->files[0], is_kind);
    if (!are_known)
        excuses_fini(&options->excuses);
    return are_known;
}

unsigned widen_report_defects(const struct widen_tally *tally)
{
    unsigned errors = 0;
    for (int kind = 1; kind < TR_VECTOR_SEED_COUNT; kind++) {
        const unsigned *fates = tally->fates[kind];
        printf("%-8s", widen_kind_names[kind]);
        for (int fate = 0; fate < WIDEN_FATES; fate++)
            printf("%s %u %s", fate ? "," : "", fates[fate], fate_names[fate]);
        printf("\n");
        errors += fates[WIDEN_MISSED] + fates[WIDEN_STALE];
    }
    return errors;
}
