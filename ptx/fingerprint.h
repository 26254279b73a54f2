/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything of a module that decides the code of one of its kernels, as a string of bytes: equal
 * strings mean equal code. Values of variables are not part of it, as code does not contain them,
 * nor are functions and names that the kernel cannot reach. Lines and columns are: faults are
 * reported by them.
 */
#ifndef PTXRUN_PTX_FINGERPRINT_H
#define PTXRUN_PTX_FINGERPRINT_H

#include <stddef.h>

#include "ptx/ptx.h"

/* Gets the next bytes. */
typedef void (*ptx_fingerprint_fn)(void *argument, const void *bytes, size_t count);

/* layout: the kernel's, by ptx_layout_kernel. Errors: PXR_OUT_OF_MEMORY. */
enum pxr_status ptx_fingerprint(const struct ptx_module *module, const struct ptx_func *kernel,
                                const struct ptx_kernel_layout *layout, ptx_fingerprint_fn put,
                                void *argument, struct pxr_error *err);

#endif
