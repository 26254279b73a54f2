/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA runtimes of older toolkits, and those that came as packages of Python.
 */
#ifndef PTXRUN_TOOLS_TARGET_PACKAGE_H
#define PTXRUN_TOOLS_TARGET_PACKAGE_H

#include <stdbool.h>

#define TARGET_OLDER_COUNT 2

/* The names of those that ptxrun has. */
extern const char *const target_older_cudarts[TARGET_OLDER_COUNT];

/* Which of these libraries a package of Python has brought along: to the places of the interpreter
 * at path (may be NULL), of the system, of the user or of the environment that is active. */
void target_find_packages(const char *path, bool has_package[TARGET_OLDER_COUNT]);

#endif
