/* SPDX-License-Identifier: Apache-2.0
 *
 * The environment that makes a program find our CUDA libraries.
 */
#ifndef PTXRUN_TOOLS_LAUNCH_ENV_H
#define PTXRUN_TOOLS_LAUNCH_ENV_H

#include <stdbool.h>

#include "util/error.h"

/* Toolkits 12 and 11. */
#define LAUNCH_OLDER_COUNT 2

/* The directories of our libraries, as absolute paths. */
struct launch_dirs {
    char *driver; /* holds libcuda.so.1 */
    char *cudart; /* holds libcudart.so.N; NULL if there is none */
    char
        *older[LAUNCH_OLDER_COUNT]; /* each holds that of an older toolkit; NULL if there is none */
    char *tools;                    /* holds nvidia-smi; NULL if there is none */
};

/* Finds the directories from the place of this executable, in a build tree or installed.
 * Errors: PXR_NOT_FOUND, PXR_INVALID_ARGUMENT (the path cannot stand in LD_LIBRARY_PATH),
 * PXR_OUT_OF_MEMORY. The caller calls launch_dirs_fini in any case. */
enum pxr_status launch_dirs_find(struct launch_dirs *dirs, struct pxr_error *err);
void launch_dirs_fini(struct launch_dirs *dirs);

/* The value for LD_LIBRARY_PATH, or for PATH: first, then the old value (may be NULL) without first
 * and last, then last unless it is NULL. The caller frees it; NULL when out of memory. */
char *launch_library_path(const char *first, const char *old, const char *last);

/* The value for LD_PRELOAD with library in front of the old value (may be NULL). As above. */
char *launch_preload(const char *library, const char *old);

/* The value for GLIBC_TUNABLES, from the old one (may be NULL): the loader sets more aside for
 * initial-exec variables of libraries that are opened late, as the driver by Python, when large
 * packages may have taken what there is by default. As above. */
char *launch_tunables(const char *old);

/* Prints "export NAME='value'" so that a shell can read it back, whatever the value holds. */
void launch_print_export(const char *name, const char *value);

#endif
