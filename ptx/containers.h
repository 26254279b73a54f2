/* SPDX-License-Identifier: Apache-2.0
 *
 * The fat binary containers of an image in memory, whatever kind of image it is. Internal to ptx/.
 */
#ifndef PTXRUN_PTX_CONTAINERS_H
#define PTXRUN_PTX_CONTAINERS_H

#include "ptx/fatbin.h"
#include "ptx/image.h"
#include "ptx/readable.h"

#define PTX_LABEL_BYTES 512

/* A cubin or text is wrapped as a container. */
struct ptx_containers {
    enum ptx_image_kind kind;
    const char *source_name;
    struct ptx_fatbin *fatbins;
    uint32_t fatbin_count;
    struct ptx_mappings mappings; /* while it is opened */
};

/* Reads the headers; what is found points into the image. source_name: NULL has a default, and it
 * must outlive *image. On failure there is nothing to close. */
enum pxr_status ptx_containers_open(const void *at, size_t size_bytes, const char *source_name,
                                    struct ptx_containers *image, struct pxr_error *err);
void ptx_containers_close(struct ptx_containers *image);

/* "app (fat binary 2)": the container with this number, 1 for the first. */
void ptx_containers_label(const struct ptx_containers *image, uint32_t number,
                          char label[PTX_LABEL_BYTES]);

/* What ptx_image_query says of it. */
void ptx_containers_summarise(const struct ptx_containers *image,
                              struct ptx_image_summary *summary);

#endif
