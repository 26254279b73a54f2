/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of --explain.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/code/make_code.h"
#include "util/readable_name.h"

#define FACTS_TEXT_BYTES 4096

/* Behind a longer name of a kernel what is said of it begins a line. */
#define NAME_COLUMNS 80

static double milliseconds(uint64_t ns)
{
    return (double)ns / 1e6;
}

/* The lines behind the first; those that begin with a tab are details. */
static void print_lines(FILE *out, const char *text, bool has_details)
{
    const char *line = strchrnul(text, '\n');
    for (line += *line == '\n'; *line; line += *line == '\n') {
        size_t len = strcspn(line, "\n");
        bool is_detail = *line == '\t';
        if (!is_detail || has_details)
            fprintf(out, "ptxrun:   %.*s\n", (int)len - is_detail, line + is_detail);
        line += len;
    }
}

/* Which tier the code is of, and how it came or goes from one to the other. Nothing where all code
 * is the best. */
static void print_tier(FILE *out, const struct crt_kernel *kernel,
                       const struct crt_variant *variant, const struct crt_made *made)
{
    enum pxr_tier tier = crt_tier();
    double predicted_ms = milliseconds(made->price_ns);
    uint64_t ran_ns = crt_tier_ran(kernel);
    if (tier == PXR_TIER_QUICK)
        fprintf(out, "ptxrun:   tier: quick, as --tier=quick asks for it\n");
    else if (tier == PXR_TIER_AUTO && variant->key.is_quick)
        fprintf(out,
                "ptxrun:   tier: quick at first; the best code is predicted to take %.1f ms to "
                "compile\n",
                predicted_ms);
    else if (tier == PXR_TIER_AUTO && !atomic_load(&kernel->quick))
        fprintf(out, "ptxrun:   tier: best, as it was in the cache\n");
    else if (tier == PXR_TIER_AUTO && made->is_cached)
        fprintf(out, "ptxrun:   tier: best, after %.1f ms in quick code, as it was in the cache\n",
                milliseconds(ran_ns));
    else if (tier == PXR_TIER_AUTO && ran_ns == 0 && variant->waits_again)
        fprintf(out,
                "ptxrun:   tier: best at once, as blocks that wait for each other in a loop end in "
                "the code they began with; it took %.1f ms\n",
                milliseconds(made->cpu_ns));
    else if (tier == PXR_TIER_AUTO)
        fprintf(out,
                "ptxrun:   tier: best, after %.1f ms in quick code; compiling was predicted to "
                "take %.1f ms and took %.1f ms\n",
                milliseconds(ran_ns), predicted_ms, milliseconds(made->cpu_ns));
}

static void print_explanation(FILE *out, const struct crt_kernel *kernel,
                              const struct crt_variant *variant, const struct jit_object *object,
                              const struct crt_made *made)
{
    bool is_full = pxr_options_get()->explain == PXR_EXPLAIN_FULL;
    const char *text = object->explanation ? object->explanation : "";
    char *name = pxr_readable_name(kernel->func->name);
    char *facts = malloc(FACTS_TEXT_BYTES);
    const char *shown = name ? name : kernel->func->name;
    fprintf(out, "ptxrun: kernel '%s':%s%.*s\n", shown,
            strlen(shown) > NAME_COLUMNS ? "\nptxrun:   " : " ", (int)strcspn(text, "\n"), text);
    fprintf(out, "ptxrun:   %s in %.1f ms, from the PTX of %s\n",
            made->is_cached ? "loaded from the cache" : "compiled", milliseconds(made->elapsed_ns),
            kernel->library->name);
    print_tier(out, kernel, variant, made);
    if (variant->key.facts.begins_inside)
        fprintf(out, "ptxrun:   it goes on with blocks that have begun, at the first thread that "
                     "has not\n");
    if (facts && is_full) {
        jit_facts_text(&variant->key.facts, facts, FACTS_TEXT_BYTES);
        fprintf(out, "ptxrun:   for launches with: %s\n", facts);
    }
    print_lines(out, text, is_full);
    free(facts);
    free(name);
}

void crt_explain(const struct crt_kernel *kernel, const struct crt_variant *variant,
                 const struct jit_object *object, const struct crt_made *made)
{
    char *text = NULL;
    size_t text_bytes = 0;
    FILE *out = open_memstream(&text, &text_bytes);
    if (!out)
        return;
    print_explanation(out, kernel, variant, object, made);
    if (fclose(out) == 0)
        fwrite(text, 1, text_bytes, stderr);
    free(text);
}
