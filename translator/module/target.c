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
#define TARGET(family_name, cpu_names, vector_costs, again_costs, asks_ahead)                      \
    {.cpus = cpu_names,                                                                            \
     .target = {.family = family_name,                                                             \
                .vectors = vector_costs,                                                           \
                .again = again_costs,                                                              \
                .ahead = asks_ahead}},
#include "translator/module/target.def"
#undef TARGET
};

enum { FAMILIES = sizeof families / sizeof families[0] };

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

/* AVX2 gathers but does not scatter, and has masks for words of 4 and 8 bytes in vectors; AVX-512
 * has registers for masks. NEON has none of it. */
static void describe_vectors(struct tr_target *target, uint32_t vector_bits)
{
    target->vector_bits = vector_bits;
    target->has_gather = vector_bits >= 256;
    target->masks_words = vector_bits >= 256;
    target->has_scatter = vector_bits >= 512;
    target->masks_all = vector_bits >= 512;
    target->converts_halves = target->has_fused = has_late_arithmetic(vector_bits);
}

struct tr_target tr_target_find(const char *cpu, uint32_t vector_bits)
{
    int found = 0;
    while (found < FAMILIES - 1 && !has_word(families[found].cpus, cpu))
        found++;
    struct tr_target target = families[found].target;
    describe_vectors(&target, vector_bits);
    return target;
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
