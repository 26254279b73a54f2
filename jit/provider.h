/* SPDX-License-Identifier: Apache-2.0
 *
 * The compile library as the rest of this folder sees it.
 */
#ifndef PTXRUN_JIT_PROVIDER_H
#define PTXRUN_JIT_PROVIDER_H

#include "jit/jit.h"

/* Opens it if need be. Errors: PXR_NO_COMPILER. */
enum pxr_status jit_provider_get(const struct jit_compiler **compiler, struct pxr_error *err);

/* Whether it has been opened; then so has LLVM. */
bool jit_provider_is_open(void);

#endif
