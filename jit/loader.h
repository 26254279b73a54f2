/* SPDX-License-Identifier: Apache-2.0
 *
 * The two ways into memory. Both obey the rules of image.h.
 */
#ifndef PTXRUN_JIT_LOADER_H
#define PTXRUN_JIT_LOADER_H

#include "jit/code.h"
#include "jit/jit.h"

/* Fill code->area, text_bytes, entry and lines, of a failed call as far as it came. Errors:
 * PXR_COMPILE_FAILED, PXR_OUT_OF_MEMORY. */

/* Without LLVM. */
enum pxr_status jit_loader_load(const struct jit_loading *loading, const struct jit_object *object,
                                struct jit_code *code, struct pxr_error *err);

/* By ORC in the compile library; code->linked, too. request: what to compile, into *object, with
 * the errors of jit_compile; or NULL: the object is there. */
enum pxr_status jit_orc_load(const struct jit_compiler *compiler, const struct jit_loading *loading,
                             const struct jit_request *request, struct jit_object *object,
                             struct jit_code *code, struct pxr_error *err);

#endif
