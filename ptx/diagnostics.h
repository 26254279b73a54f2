/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors with a position in PTX text. Internal to ptx/.
 */
#ifndef PTXRUN_PTX_DIAGNOSTICS_H
#define PTXRUN_PTX_DIAGNOSTICS_H

#include <stdarg.h>

#include "ptx/ptx.h"

/* "source:line:column: error: message", the source line, and a caret. Returns PXR_BAD_PTX. */
enum pxr_status ptx_diagnose(const struct ptx_module *module, int line, int column,
                             struct pxr_error *err, const char *format, va_list args);

#endif
