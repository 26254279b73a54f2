/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of functions without a definition, reported as a driver's linker does when it loads a
 * module.
 */
#ifndef PTXRUN_PTX_UNRESOLVED_H
#define PTXRUN_PTX_UNRESOLVED_H

#include "ptx/ptx.h"

/* Fails with PXR_BAD_PTX at the first call, in any function of a module that is complete, of one
 * that has no body and is not the device runtime's. A declaration alone is no error. */
enum pxr_status ptx_check_resolved(const struct ptx_module *module, struct pxr_error *err);

#endif
