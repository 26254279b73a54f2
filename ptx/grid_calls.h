/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of CUDA's device runtime for barriers of a whole grid, as PTX. C++ of today has
 * them in its headers; compilers of other languages (Numba) call them and leave it to the linker.
 */
#ifndef PTXRUN_PTX_GRID_CALLS_H
#define PTXRUN_PTX_GRID_CALLS_H

#include "ptx/ptx.h"

/* Whether a module calls them and has no body for them. */
bool ptx_needs_grid_calls(const struct ptx_module *module);

/* The module with their bodies, to be linked with it; the caller destroys it. */
enum pxr_status ptx_parse_grid_calls(struct ptx_module **module, struct pxr_error *err);

#endif
