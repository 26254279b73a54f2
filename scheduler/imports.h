/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that the program and its libraries import from others, replaced in the tables through
 * which they call them. Works however we have been loaded: the dynamic linker looks at no library
 * that dlopen has brought when it binds the names of the program.
 */
#ifndef PTXRUN_SCHEDULER_IMPORTS_H
#define PTXRUN_SCHEDULER_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>

struct sch_import {
    const char *name;
    void *function; /* the function to call instead */
};

/* Once, before the first time: others that are replaced with the caller's. */
void sch_imports_add(const struct sch_import *imports, size_t count);

/* Replaces them in every loaded object but our own: if any has been loaded since the last time, or
 * if the caller insists. Best effort, thread-safe. The fault handler must be installed. */
void sch_imports_replace(const struct sch_import *imports, size_t count, bool insists);

#endif
