/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA runtimes of older toolkits, and those that came as packages of Python.
 */
#ifndef PTXRUN_TOOLS_TARGET_PACKAGE_H
#define PTXRUN_TOOLS_TARGET_PACKAGE_H

#include <stdbool.h>

/* The names of those that ptxrun has. */
extern const char *const target_older_cudarts[2];

/* Whether a package of Python has brought this library along: to the places of the interpreter at
 * path (may be NULL), of the system, of the user or of the environment that is active. */
bool target_has_package(const char *path, const char *library);

#endif
