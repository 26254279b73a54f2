/* SPDX-License-Identifier: Apache-2.0
 *
 * Links made at run time (cuLinkCreate): inputs are gathered in a joined image (ptx/joined.h),
 * which the program gets as its "cubin". One thread at a time per link.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_LINK_H
#define PTXRUN_CUDART_CORE_CODE_LINK_H

#include <stddef.h>

#include "cudart/core/base/result.h"
#include "util/error.h"

CRT_API_BEGIN

struct crt_link;

/* NULL when out of memory. */
struct crt_link *crt_link_create(void);
void crt_link_destroy(struct crt_link *link);

/* Copies PTX text, a fat binary, or the device code of a host object, shared object or archive.
 * name is used in messages. *err is filled in on failure, which is also reported. */
enum crt_result crt_link_add(struct crt_link *link, const void *data, size_t bytes,
                             const char *name, struct pxr_error *err);
enum crt_result crt_link_add_file(struct crt_link *link, const char *path, struct pxr_error *err);

/* Links once, to see whether that works. The image belongs to the link; info (cap bytes, may be 0)
 * gets lines about its contents. Errors: CRT_INVALID_VALUE when nothing has been added; those of
 * loading an image. */
enum crt_result crt_link_complete(struct crt_link *link, void **image, size_t *bytes, char *info,
                                  size_t cap, struct pxr_error *err);

CRT_API_END

#endif
