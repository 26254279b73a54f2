/* SPDX-License-Identifier: Apache-2.0
 *
 * Objects of the modules emitted last. Different collapses and modes often make the same module of
 * a kernel, and most of the time of tests over many kernels is LLVM's, making code of modules.
 */
#ifndef PTXRUN_TESTS_SUPPORT_EMITTED_H
#define PTXRUN_TESTS_SUPPORT_EMITTED_H

#include "jit/compile.h"

/* jit_unit_emit, or a copy of what it made of the same module. */
enum pxr_status emitted_get(struct jit_unit *unit, struct jit_object *object,
                            struct pxr_error *err);

#endif
