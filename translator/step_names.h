/* SPDX-License-Identifier: Apache-2.0
 *
 * Which options name steps that there are. Without LLVM, so that a command can ask before it starts
 * a program.
 */
#ifndef PTXRUN_TRANSLATOR_STEP_NAMES_H
#define PTXRUN_TRANSLATOR_STEP_NAMES_H

#include "util/error.h"

/* Whether every word of a list such as --skip names a step that can be left out. NULL or "": none.
 * Errors: PXR_INVALID_ARGUMENT, with the word and the names there are. */
enum pxr_status tr_check_skip(const char *skip, struct pxr_error *err);

/* The same of every word after:STEP of a list such as --dump, and any step, or after:all. */
enum pxr_status tr_check_dump(const char *dump, struct pxr_error *err);

#endif
