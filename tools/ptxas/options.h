/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of ptxas, read as the genuine one reads it.
 */
#ifndef PTXRUN_TOOLS_PTXAS_OPTIONS_H
#define PTXRUN_TOOLS_PTXAS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

enum ptxas_option {
#define OPTION(name, long_name, short_name, kind) PTXAS_##name,
#include "tools/ptxas/options.def"
#undef OPTION
    PTXAS_OPTION_COUNT
};

struct ptxas_words {
    const char **at;
    size_t count;
};

struct ptxas_options {
    const char *values[PTXAS_OPTION_COUNT]; /* the last one given, "" for flags; NULL: not given */
    struct ptxas_words inputs;              /* files */
    struct ptxas_words strings;             /* PTX given as arguments */
    struct ptxas_words entries;
    struct ptxas_words owned; /* what was read from option files */
};

/* Reads the arguments up to NULL, which must stay. Warns of what is given twice. What is wrong is
 * in *err, in ptxas' words. The caller calls ptxas_options_fini in any case. */
enum pxr_status ptxas_options_read(char **arguments, struct ptxas_options *options,
                                   struct pxr_error *err);
void ptxas_options_fini(struct ptxas_options *options);

/* For --help: all options, a line each. */
void ptxas_options_print(void);

#endif
