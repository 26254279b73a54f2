/* SPDX-License-Identifier: Apache-2.0
 *
 * The outline of a module: what launches and queries need to know of it, which is all but the
 * bodies of functions. It is made of bytes that another process may have written, so that a module
 * whose kernels are compiled already is never parsed.
 */
#ifndef PTXRUN_PTX_OUTLINE_H
#define PTXRUN_PTX_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/ptx.h"

/* Of the bytes. */
#define PTX_OUTLINE_FORMAT 3u

#define PTX_DIGEST_BYTES   32

/* The numbers of a struct ptx_kernel_layout. */
struct ptx_kernel_needs {
    uint32_t shared_reserved_bytes;
    uint32_t shared_static_bytes;
    uint32_t shared_align;
    uint32_t local_static_bytes;
    uint32_t local_bytes;
    uint32_t local_least_bytes;
    bool has_recursion;
    bool calls_runtime;
};

struct ptx_outline_kernel {
    struct ptx_func head; /* as in the module, without body and results: no statements, variables,
                             labels, nor how it was written */
    bool has_needs;       /* false: ptx_layout_kernel fails, and says why */
    struct ptx_kernel_needs needs;
    uint8_t digest[PTX_DIGEST_BYTES]; /* of ptx_fingerprint; zero if nobody asked for it */
};

/* All but `owned` is constant. Any number of threads may read it. */
struct ptx_outline {
    struct pxr_arena arena;
    uint8_t *owned;            /* the bytes it was made of: names and initial values lie in them */
    const char *source_suffix; /* of the module's source_name, behind the name of the image */
    unsigned version;          /* as in struct ptx_module */
    unsigned target;
    const struct ptx_var *const *vars; /* the module's, under the same indices; addresses of
                                          functions in their initial values have become numbers */
    uint32_t var_count;
    const struct ptx_outline_kernel *kernels; /* entries with a body, in module order */
    uint32_t kernel_count;
};

/* Makes the digest of a kernel's ptx_fingerprint. */
typedef enum pxr_status (*ptx_digest_fn)(const struct ptx_module *module,
                                         const struct ptx_func *kernel,
                                         const struct ptx_kernel_layout *layout,
                                         uint8_t digest[PTX_DIGEST_BYTES], struct pxr_error *err);

/* The outline as bytes (malloc). image_name: the name with which the image was opened. digest: NULL
 * if digests are not needed. Errors: PXR_OUT_OF_MEMORY. */
enum pxr_status ptx_outline_write(const struct ptx_module *module, const char *image_name,
                                  ptx_digest_fn digest, uint8_t **bytes, size_t *size_bytes,
                                  struct pxr_error *err);

/* The outline that bytes tell. It takes them over (malloc) when it succeeds. False: they are none
 * that ptx_outline_write has made, or there is no memory. */
bool ptx_outline_read(uint8_t *bytes, size_t size_bytes, struct ptx_outline **outline);
void ptx_outline_destroy(struct ptx_outline *outline); /* may be NULL */

/* NULL when there is none. */
const struct ptx_outline_kernel *ptx_outline_find_kernel(const struct ptx_outline *outline,
                                                         const char *name);
const struct ptx_var *ptx_outline_find_var(const struct ptx_outline *outline, const char *name);

#endif
