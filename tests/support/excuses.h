/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of places in which a defect need not be noticed. Each place is named: by a key, such as the
 * case and the kind of defect, and by its ordinal among the places of that key. A line of a list is
 *
 *   KEY ORDINALS: WHY
 *
 * where KEY is one or more words and ORDINALS is like 3-7,9. Lines that begin with # are comments.
 */
#ifndef PTXRUN_TESTS_SUPPORT_EXCUSES_H
#define PTXRUN_TESTS_SUPPORT_EXCUSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

#define EXCUSE_KEY_BYTES 192
#define EXCUSE_WHY_BYTES 192

struct excuse {
    char key[EXCUSE_KEY_BYTES];
    char why[EXCUSE_WHY_BYTES];
    uint32_t first, last; /* ordinals */
};

/* All zero: nothing is excused. */
struct excuses {
    struct excuse *list;
    size_t count;
};

/* Errors: PXR_NOT_FOUND; PXR_BAD_IMAGE: a line is not well formed or excuses a place twice. */
enum pxr_status excuses_load(struct excuses *excuses, const char *path, struct pxr_error *err);
void excuses_fini(struct excuses *excuses);

/* Why the place is excused; NULL: it is not. */
const char *excuses_find(const struct excuses *excuses, const char *key, uint32_t ordinal);

/* How many places a key must have for all of its excuses to be of one. */
uint32_t excuses_limit(const struct excuses *excuses, const char *key);

/* Whether all are of cases that lie beside this one, and of kinds of places, which is what comes
 * behind a case's name, that there are. Says which are not. */
bool excuses_are_for(const struct excuses *excuses, const char *path,
                     bool (*is_kind)(const char *kind));

/* Prints the lines that would excuse just these places, in rising order, with the reasons there are
 * by now. What has none yet gets a question mark, which excuses_load refuses. */
void excuses_print(const struct excuses *excuses, const char *key, const uint32_t *ordinals,
                   size_t count);

#endif
