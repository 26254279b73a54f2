/* SPDX-License-Identifier: Apache-2.0
 *
 * See trial.h: the life of a trial, and what happens to it in the background.
 */
#include "cudart/core/code/trial_state.h"

#include <stdio.h>
#include <stdlib.h>

#include "cudart/core/base/stats.h"
#include "cudart/core/code/make_code.h"
#include "util/log.h"
#include "util/readable_name.h"

#define TEXT_BYTES 512

/* A form may want so much more stack than the present code: the grid must not fail because of it.
 */
#define STACK_MORE_BYTES ((uint32_t)64 << 10)

/* ---- the present code ---- */

bool crt_trial_is_open(const struct crt_variant *variant)
{
    return variant->trial && !atomic_load_explicit(&variant->trial->is_over, memory_order_relaxed);
}

/* a b b a, so that what comes first gains nothing. */
const struct crt_variant *crt_trial_turn(const struct crt_variant *variant)
{
    struct crt_trial *trial = variant->trial;
    if (!trial)
        return variant;
    const struct crt_variant *rival = crt_trial_rival(trial);
    unsigned turns = atomic_load_explicit(&trial->turns, memory_order_relaxed);
    return rival && ((turns + 1) & 2) ? rival : crt_trial_present(trial);
}

int crt_trial_line(const struct crt_variant *variant, uintptr_t pc)
{
    const struct crt_trial *trial = variant->trial;
    unsigned count = trial ? atomic_load_explicit(&trial->made_count, memory_order_acquire) : 0;
    int line = jit_code_line(variant->code, pc);
    for (unsigned i = 0; i < count && line == 0; i++)
        line = jit_code_line(trial->made[i]->code, pc);
    return line;
}

void crt_trial_destroy(struct crt_trial *trial)
{
    if (!trial)
        return;
    unsigned count = atomic_load(&trial->made_count);
    for (unsigned i = 0; i < count; i++)
        crt_variant_free(trial->made[i]);
    free(trial);
}

/* ---- what is said ---- */

/* cost: a sentence about it, or "". */
static void tell(const struct crt_kernel *kernel, const struct crt_choice *choice, const char *cost)
{
    char first[CRT_FORM_TEXT_BYTES];
    char tried[TEXT_BYTES];
    char text[2 * TEXT_BYTES];
    if (!pxr_options_get()->explain && !crt_stats_are_on())
        return;
    crt_form_text(&choice->tried[0].form, first);
    crt_choice_text(choice, tried, sizeof tried);
    snprintf(text, sizeof text, "measured against %s: %s%s", first, tried, cost);
    crt_stats_tried(kernel->func->name, text);
    if (!pxr_options_get()->explain)
        return;
    char *name = pxr_readable_name(kernel->func->name);
    fprintf(stderr, "ptxrun: kernel '%s': %s\n", name ? name : kernel->func->name, text);
    free(name);
}

static void tell_round(const struct crt_trial *trial)
{
    char cost[TEXT_BYTES];
    snprintf(cost, sizeof cost, "; measuring took %.1f of %.1f ms",
             (double)atomic_load(&trial->spent_ns) / 1e6,
             (double)atomic_load(&trial->ran_ns) / 1e6);
    tell(trial->kernel, &trial->choice, cost);
}

/* ---- beginning ---- */

/* Where something has been asked of the code, or nothing is to happen in the background, the
 * estimate stands. */
static bool may_try(void)
{
    const struct pxr_options *options = pxr_options_get();
    return options->choose == PXR_CHOOSE_MEASURE && options->compile_threads > 0 &&
           crt_tier_chooses_code();
}

static struct crt_trial *begin(struct crt_kernel *kernel, struct crt_variant *variant,
                               const struct crt_choice *choice)
{
    struct crt_trial *trial = calloc(1, sizeof *trial);
    if (!trial)
        return NULL;
    trial->kernel = kernel;
    trial->first = variant;
    trial->choice = *choice;
    atomic_init(&trial->present, variant);
    trial->lock = (atomic_flag)ATOMIC_FLAG_INIT;
    return trial;
}

/* What is made first has a trial. Float atomics of one thread stay in their order: results would
 * depend on what was measured. */
static void add_trial(struct crt_kernel *kernel, struct crt_variant *variant,
                      const struct crt_choice *known)
{
    struct crt_choice choice;
    struct crt_form next;
    if (!variant || !may_try() || variant->adds_floats || jit_code_may_wait(variant->code))
        return;
    if (known) {
        choice = *known;
        tell(kernel, known, ", in earlier processes");
    } else {
        crt_choice_begin(&variant->form, &choice);
    }
    if (crt_choice_next(&choice, &next))
        variant->trial = begin(kernel, variant, &choice);
}

/* How the code is asked for: as measured, or as the options say. */
static struct jit_variant key_for(const struct crt_kernel *kernel, const struct tr_facts *facts,
                                  struct crt_choice *choice, bool *is_known)
{
    *is_known = may_try() && crt_choice_get(kernel, facts, choice);
    if (*is_known && choice->taken > 0)
        return crt_form_key(&choice->tried[choice->taken].form, facts);
    struct jit_variant key = crt_variant_key(facts);
    key.is_quick = false;
    return key;
}

enum pxr_status crt_trial_make(struct crt_kernel *kernel, const struct tr_facts *facts,
                               struct crt_variant **variant, struct pxr_error *error)
{
    struct crt_choice choice;
    bool is_known;
    struct jit_variant key = key_for(kernel, facts, &choice, &is_known);
    enum pxr_status status = crt_code_make(kernel, &key, CRT_FOR_LAUNCHES, variant, error);
    add_trial(kernel, *variant, is_known ? &choice : NULL);
    return status;
}

struct crt_variant *crt_trial_find(struct crt_kernel *kernel, const struct tr_facts *facts)
{
    struct crt_choice choice;
    bool is_known;
    struct jit_variant key = key_for(kernel, facts, &choice, &is_known);
    struct crt_variant *variant = crt_code_find(kernel, &key);
    add_trial(kernel, variant, is_known ? &choice : NULL);
    return variant;
}

/* ---- in the background ---- */

/* NULL: it cannot be made, or is what there is already. */
static struct crt_variant *make_form(struct crt_trial *trial, const struct crt_form *form)
{
    struct jit_variant key = crt_form_key(form, &trial->first->key.facts);
    struct pxr_error error = {0};
    struct crt_variant *made;
    if (crt_code_make(trial->kernel, &key, CRT_TO_COMPARE, &made, &error) != PXR_OK)
        return NULL;
    crt_trial_spend(trial, made->took_ns);
    made->trial = trial;
    unsigned count = atomic_load_explicit(&trial->made_count, memory_order_relaxed);
    trial->made[count] = made;
    atomic_store_explicit(&trial->made_count, count + 1, memory_order_release);
    return made;
}

/* A form that turns out to be another one's code is no rival. */
static bool is_rival(const struct crt_trial *trial, const struct crt_variant *made)
{
    const struct crt_variant *present = crt_trial_present(trial);
    return !jit_code_may_wait(made->code) && jit_code_fused(made->code) &&
           made->code_hash != present->code_hash &&
           made->stack_bytes <= present->stack_bytes + STACK_MORE_BYTES;
}

/* What has been found out is for later processes, too. */
static void end_round(struct crt_trial *trial)
{
    struct crt_form next;
    crt_choice_keep(trial->kernel, &trial->first->key.facts, &trial->choice);
    if (!crt_choice_next(&trial->choice, &next))
        atomic_store_explicit(&trial->is_over, true, memory_order_relaxed);
    atomic_store_explicit(&trial->is_busy, false, memory_order_release);
}

/* The next form is compared; if nothing is left of it, it is counted as equal to the present. */
static void begin_round(struct crt_trial *trial)
{
    trial->comparison = (struct crt_comparison){0};
    if (!crt_choice_next(&trial->choice, &trial->form)) {
        end_round(trial);
        return;
    }
    struct crt_variant *made = make_form(trial, &trial->form);
    bool is_chosen = trial->form.collapse == PXR_COLLAPSE_VECTOR && trial->form.width == 0;
    if (made && is_chosen && made->form.collapse == PXR_COLLAPSE_VECTOR)
        trial->form = made->form;
    if (made && is_rival(trial, made)) {
        atomic_store_explicit(&trial->rival, made, memory_order_release);
        return;
    }
    crt_choice_add(&trial->choice, &trial->form, 1, false);
    end_round(trial);
}

void crt_trial_go_on(struct crt_trial *trial)
{
    if (!trial->is_decided) {
        begin_round(trial);
        return;
    }
    trial->is_decided = false;
    tell_round(trial);
    end_round(trial);
}
