/* SPDX-License-Identifier: Apache-2.0
 *
 * Module images in memory: the bytes that a program hands to cuModuleLoadData or cuLibraryLoadData
 * become one linked PTX module. Files are ptx/file.h's business.
 *
 * An image is a fat binary wrapper, a fat binary container, a joined image, a cubin or PTX text;
 * its first bytes tell which. No length comes with it, so extents are taken from its own headers,
 * checked for overflow and against the mapped memory that can be read.
 */
#ifndef PTXRUN_PTX_IMAGE_H
#define PTXRUN_PTX_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct ptx_module;

enum ptx_image_kind {
    PTX_IMAGE_WRAPPER,   /* one translation unit or a device-linked array of them */
    PTX_IMAGE_CONTAINER, /* a bare fat binary */
    PTX_IMAGE_JOINED,    /* the inputs of a link, ptx/joined.h */
    PTX_IMAGE_CUBIN,     /* machine code of a GPU, nothing else */
    PTX_IMAGE_TEXT       /* PTX as the program wrote it */
};

/* The contents of an image, from its headers alone: no payload is decompressed or parsed. */
struct ptx_image_summary {
    enum ptx_image_kind kind;
    uint32_t container_count; /* 0 for a cubin or text */
    uint32_t ptx_count;       /* entries of each kind, over all containers */
    uint32_t cubin_count;
    uint32_t lto_count;
    unsigned lowest_cubin_arch; /* 0 if none */
    char ptx_archs[128];   /* "compute_75, compute_90a", in the order found, without duplicates */
    char cubin_archs[128]; /* "sm_80, sm_90" */
};

/* The size argument for an image of unknown length. */
#define PTX_IMAGE_SIZE_UNKNOWN SIZE_MAX

/* Errors: PXR_BAD_IMAGE, PXR_INVALID_ARGUMENT (image is NULL), PXR_OUT_OF_MEMORY. Thread-safe. */
enum pxr_status ptx_image_query(const void *image, size_t size_bytes, const char *source_name,
                                struct ptx_image_summary *summary, struct pxr_error *err);

/* Chooses one PTX entry per container for a device of this compute capability (75 for 7.5),
 * decompresses and parses them and links them into one module, which the caller owns
 * (ptx_module_destroy). The device runtime library (libcudadevrt) is left out: its functions stay
 * extern. The image is not needed afterwards. source_name is used in messages. Where size_bytes is
 * known, as for the contents of a .ptx, .fatbin or .cubin file, nothing beyond it is read, and a
 * wrapper is refused, as its pointers mean nothing.
 * Errors: PXR_NO_PTX (intact, but no PTX in it: *err tells what to rebuild with), PXR_BAD_IMAGE,
 * PXR_UNSUPPORTED (unknown compression), those of ptx_parse and ptx_link. Thread-safe. */
enum pxr_status ptx_image_load(const void *image, size_t size_bytes, unsigned capability,
                               const char *source_name, struct ptx_module **module,
                               struct pxr_error *err);

/* Fills *err with the sentence for a kernel that cannot be run because its image holds no PTX,
 * and returns PXR_NO_PTX. kernel may be NULL: the message then speaks of the whole image. */
enum pxr_status ptx_image_explain_no_ptx(const struct ptx_image_summary *summary,
                                         const char *source_name, const char *kernel,
                                         struct pxr_error *err);

#endif
