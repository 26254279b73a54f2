/* SPDX-License-Identifier: Apache-2.0
 *
 * The names of the two tables of steps, and whether an option has others.
 */
#include "translator/step_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { IS_REQUIRED, IS_OPTIMISATION, IS_TUNING };

static const struct step_name {
    const char *name;
    bool is_optional;
    bool has_dump; /* there is a module behind it */
} step_names[] = {
#define STEP(ID, name, stage, kind, ...) {name, IS_##kind != IS_REQUIRED, true},
#include "translator/pipeline.def"
#undef STEP
#define TUNING(ID, name, purpose) {name, true, false},
#include "translator/vector/plan/tuning.def"
#undef TUNING
    {"all", false, true},
};
enum { STEP_NAMES = sizeof step_names / sizeof step_names[0] };

typedef bool (*is_wanted_fn)(const struct step_name *step);

static bool is_optional(const struct step_name *step)
{
    return step->is_optional;
}

static bool has_dump(const struct step_name *step)
{
    return step->has_dump;
}

static bool has_name(is_wanted_fn is_wanted, const char *text, size_t len)
{
    for (int i = 0; i < STEP_NAMES; i++)
        if (is_wanted(&step_names[i]) && strlen(step_names[i].name) == len &&
            memcmp(step_names[i].name, text, len) == 0)
            return true;
    return false;
}

/* Fails with the words before the name, and after it the names there are. */
static enum pxr_status refuse(struct pxr_error *err, const char *option, const char *what,
                              is_wanted_fn is_wanted, const char *name, size_t len)
{
    char names[1024];
    size_t used = 0;
    for (int i = 0; i < STEP_NAMES && used < sizeof names; i++)
        if (is_wanted(&step_names[i]))
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                     used > 0 ? ", " : "", step_names[i].name);
    return pxr_fail(err, PXR_INVALID_ARGUMENT, "%s: '%.*s' is no step%s; there are %s", option,
                    (int)len, name, what, names);
}

enum pxr_status tr_check_skip(const char *skip, struct pxr_error *err)
{
    for (const char *word = skip ? skip : ""; *word;) {
        size_t len = strcspn(word, ",");
        if (!has_name(is_optional, word, len))
            return refuse(err, "--skip (PTXRUN_SKIP)", " that can be left out", is_optional, word,
                          len);
        word += len + (word[len] == ',');
    }
    return PXR_OK;
}

enum pxr_status tr_check_dump(const char *dump, struct pxr_error *err)
{
    static const char prefix[] = "after:";
    const size_t prefix_len = sizeof prefix - 1;
    for (const char *word = dump ? dump : ""; *word;) {
        size_t len = strcspn(word, ",");
        if (strncmp(word, prefix, prefix_len) == 0 &&
            !has_name(has_dump, word + prefix_len, len - prefix_len))
            return refuse(err, "--dump (PTXRUN_DUMP)", "", has_dump, word + prefix_len,
                          len - prefix_len);
        word += len + (word[len] == ',');
    }
    return PXR_OK;
}
