/* SPDX-License-Identifier: Apache-2.0
 *
 * See target.h.
 */
#include "translator/module/target.h"

#include <string.h>

static const struct {
    const char *cpus; /* separated by blanks */
    struct tr_target target;
} families[] = {
#define TARGET(family_name, bits, figures_evidence, cpu_names, again_costs, asks_ahead)            \
    {.cpus = cpu_names,                                                                            \
     .target = {.family = family_name,                                                             \
                .vector_bits = bits,                                                               \
                .evidence = TR_##figures_evidence,                                                 \
                .again = again_costs,                                                              \
                .ahead = asks_ahead}},
#include "translator/module/target.def"
#undef TARGET
};

enum { FAMILIES = sizeof families / sizeof families[0] };

/* Column by column the figures of the families. */
#define LIST(...) __VA_ARGS__
static const double figures[TR_FIGURE_COUNT][FAMILIES] = {
#define FIGURE(figure_name, values, figure_what) {LIST values},
#include "translator/module/figures.def"
#undef FIGURE
};

const struct tr_figure tr_figure_names[TR_FIGURE_COUNT] = {
#define FIGURE(figure_name, values, figure_what) {#figure_name, figure_what},
#include "translator/module/figures.def"
#undef FIGURE
};

/* A row is a column there. */
#define FIGURE(figure_name, values, figure_what)                                                   \
    _Static_assert(sizeof((double[]){LIST values}) == FAMILIES * sizeof(double), #figure_name);
#include "translator/module/figures.def"
#undef FIGURE

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; *at != '\0'; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        if (size == length && memcmp(at, word, length) == 0)
            return true;
        at += size;
    }
    return false;
}

/* All CPUs with AVX2 have F16C and FMA, too; of those with less only AMD's Piledriver has both. */
static bool has_late_arithmetic(uint32_t vector_bits)
{
#if defined(__x86_64__)
    return vector_bits >= 256;
#else
    (void)vector_bits;
    return true;
#endif
}

static bool is_better(double one, double other)
{
    return one > 0 && one <= other;
}

/* An instruction counts only where it is faster than lane by lane. Masks are registers in AVX-512;
 * before, and in NEON, nothing has masks for bytes. */
static void describe_vectors(struct tr_target *target)
{
    const struct tr_figures *has = &target->figures;
    target->has_gather = is_better(has->masked_gather, has->masked_gather_by_lane);
    target->has_scatter = is_better(has->masked_scatter, has->masked_scatter_by_lane);
    target->masks_words = is_better(has->masked_store, has->masked_store_by_lane);
    target->masks_all = target->vector_bits >= 512;
    target->has_roundings = target->vector_bits >= 512;
    target->converts_halves = target->has_fused = has_late_arithmetic(target->vector_bits);
    target->gains_bf16_dots =
        target->vector_bits >= 512 && is_better(has->bf16_dots, 1.5 * has->fused);
}

static struct tr_target row(int number)
{
    struct tr_target target = families[number].target;
    double *own = &target.figures.vector;
    for (size_t i = 0; i < TR_FIGURE_COUNT; i++)
        own[i] = figures[i][number];
    describe_vectors(&target);
    return target;
}

/* A row for CPUs that nobody has named. */
static bool is_for_any(int number)
{
    const char *family = families[number].target.family;
#if defined(__x86_64__)
    if (strcmp(family, "any-neon") == 0)
        return false;
#endif
    return strncmp(family, "any-", 4) == 0;
}

struct tr_target tr_target_find(const char *cpu, uint32_t vector_bits)
{
    int found = 0;
    for (int i = 0; i < FAMILIES; i++)
        if (families[i].target.vector_bits == vector_bits &&
            (has_word(families[i].cpus, cpu) || is_for_any(i)))
            found = i;
    return row(found);
}

double tr_by_lane(const struct tr_target *target, uint32_t lanes, double figure)
{
    return figure * lanes * 32 / target->vector_bits;
}

/* A shorter vector is one instruction, too; a longer one is several. */
double tr_of_vector(const struct tr_target *target, uint32_t lanes, double figure)
{
    double least = figure < 1 ? figure : 1;
    double cost = tr_by_lane(target, lanes, figure);
    return cost > least ? cost : least;
}

bool tr_target_of_family(const char *family, struct tr_target *target)
{
    int found = 0;
    while (found < FAMILIES && strcmp(families[found].target.family, family) != 0)
        found++;
    if (found < FAMILIES)
        *target = row(found);
    return found < FAMILIES;
}

double tr_figure(const struct tr_target *target, size_t number)
{
    return (&target->figures.vector)[number];
}

const char *tr_evidence_name(enum tr_evidence evidence)
{
    static const char *const names[] = {[TR_MEASURED] = "measured on such a CPU",
                                        [TR_LIKE] = "measured on another CPU",
                                        [TR_MODEL] = "LLVM's model of the CPU, unmeasured"};
    return names[evidence];
}

const char *tr_vector_name(const struct tr_target *target)
{
#if defined(__x86_64__)
    if (target->vector_bits >= 512)
        return "AVX-512";
    return target->vector_bits >= 256 ? "AVX2" : "SSE";
#elif defined(__aarch64__)
    (void)target;
    return "NEON";
#else
    (void)target;
    return "SIMD";
#endif
}
