/* SPDX-License-Identifier: Apache-2.0
 *
 * The PTX that an image holds for a device: chosen, one entry of each container, but neither
 * expanded nor parsed. Which module comes of it can be told without either: equal bytes of
 * ptx_source_identify mean equal modules.
 */
#ifndef PTXRUN_PTX_SOURCE_H
#define PTXRUN_PTX_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "ptx/fingerprint.h"
#include "util/error.h"
#include "util/str.h"

struct ptx_source;

/* As for ptx_image_load; size_bytes may be PTX_IMAGE_SIZE_UNKNOWN. The image has to stay readable
 * until the source is closed, unless ptx_source_own is called. An image without PTX is no error
 * here. Errors: PXR_BAD_IMAGE, PXR_INVALID_ARGUMENT, PXR_OUT_OF_MEMORY. */
enum pxr_status ptx_source_open(const void *image, size_t size_bytes, unsigned capability,
                                const char *source_name, struct ptx_source **source,
                                struct pxr_error *err);
void ptx_source_close(struct ptx_source *source); /* may be NULL */

bool ptx_source_has_ptx(const struct ptx_source *source);

/* Hands over all that decides the module, its source_name apart. Of that, too, the part that
 * follows the name given to ptx_source_open is decided. */
void ptx_source_identify(const struct ptx_source *source, ptx_fingerprint_fn put, void *argument);

/* Copies the PTX, as it is stored: the image is not needed from then on. PXR_OUT_OF_MEMORY. */
enum pxr_status ptx_source_own(struct ptx_source *source, struct pxr_error *err);

/* Calls visit with each text, expanded, and what to call it in messages; any status but PXR_OK ends
 * it. Errors: those of expanding, and of visit. */
typedef enum pxr_status (*ptx_source_text_fn)(void *user, struct pxr_str text, const char *label,
                                              struct pxr_error *err);
enum pxr_status ptx_source_visit(const struct ptx_source *source, ptx_source_text_fn visit,
                                 void *user, struct pxr_error *err);

/* Expands, parses and links, as ptx_image_load does and with its errors. The source stays. */
enum pxr_status ptx_source_parse(const struct ptx_source *source, struct ptx_module **module,
                                 struct pxr_error *err);

#endif
