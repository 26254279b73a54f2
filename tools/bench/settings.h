/* SPDX-License-Identifier: Apache-2.0
 *
 * In which settings `ptxbench compare` runs a program: axes, each an option of ptxrun with some of
 * its values, and what comes of them.
 */
#ifndef PTXRUN_TOOLS_BENCH_SETTINGS_H
#define PTXRUN_TOOLS_BENCH_SETTINGS_H

#include <stdbool.h>

#include "util/options.h"

#define SETTINGS_MAX_AXES   16
#define SETTINGS_MAX_VALUES 64

struct settings_axis {
    enum pxr_option_id option;
    char *text; /* values point into it */
    const char *values[SETTINGS_MAX_VALUES];
    unsigned count;
};

struct settings_axes {
    struct settings_axis axes[SETTINGS_MAX_AXES];
    unsigned count;
};

/* A value for each axis, NULL where the option is left as it is. */
struct setting {
    const char *values[SETTINGS_MAX_AXES];
    char *label; /* "--mode=jit --width=8"; "default" */
};

struct settings {
    struct setting *settings; /* the first one leaves everything as it is */
    unsigned count;
};

/* The axes that programs are compared along if nothing else is asked for: modes, tiers, collapses
 * and widths as the table of options has them, and 1, 2, 4, … threads up to cpus. */
void settings_default_axes(struct settings_axes *axes, unsigned cpus);

/* "jit,normal": the axis gets these values instead; "": the axis goes. Each value is checked. */
enum pxr_status settings_set_axis(struct settings_axes *axes, enum pxr_option_id option,
                                  const char *list, struct pxr_error *err);

void settings_free_axes(struct settings_axes *axes);

/* One for each value of each axis, the others left as they are; or every combination of values. The
 * axes outlive them. */
struct settings settings_of(const struct settings_axes *axes, bool is_crossed);
void settings_free(struct settings *settings);

/* The setting that has nothing but this value; -1 if there is none. value: NULL for the first. */
int settings_find(const struct settings *settings, unsigned axis, const char *value);

#endif
