/* SPDX-License-Identifier: Apache-2.0
 *
 * Joined images: several inputs of a link (cuLinkAddData) as one image in memory, which
 * ptx_image_load links when it is loaded. It is what cuLinkComplete calls a cubin: self-contained
 * bytes that a program may copy, write to a file and load later.
 *
 * Layout, little endian: magic, version, u64 size of the whole; then fat binary containers, each at
 * a multiple of 8. PTX text gets a container of its own.
 */
#ifndef PTXRUN_PTX_JOINED_H
#define PTXRUN_PTX_JOINED_H

#include "ptx/fatbin.h"

#define PTX_JOINED_MAGIC UINT32_C(0x4a525850) /* "PXRJ" */

/* Starts empty: {0}. One thread at a time. */
struct ptx_joined {
    uint8_t *bytes; /* owned; the image once something has been added */
    size_t len;
    size_t capacity;
};

/* Adds PTX text, a fat binary container, or every container of a host object file, shared object
 * or archive; name is used in messages. On failure the image is as before.
 * Errors: PXR_NO_PTX (a cubin, or a host file without device code), PXR_BAD_IMAGE,
 * PXR_OUT_OF_MEMORY. */
enum pxr_status ptx_joined_add(struct ptx_joined *joined, struct ptx_span input, const char *name,
                               struct pxr_error *err);
void ptx_joined_fini(struct ptx_joined *joined);

/* Calls visit for each container of a joined image at the start of bytes, which may go on behind
 * it; any status but PXR_OK ends the walk. Errors: PXR_BAD_IMAGE, and those of visit. */
enum pxr_status ptx_joined_visit(struct ptx_span bytes, const char *label,
                                 enum pxr_status (*visit)(void *user, struct ptx_span container,
                                                          struct pxr_error *err),
                                 void *user, struct pxr_error *err);

#endif
