/* SPDX-License-Identifier: Apache-2.0
 *
 * Links made at run time.
 */
#include "cudart/core/code/link.h"

#include <stdlib.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/report.h"
#include "cudart/core/code/module.h"
#include "cudart/core/code/summary.h"
#include "ptx/joined.h"
#include "util/read_file.h"

static const char linked_name[] = "linked image"; /* in messages */

struct crt_link {
    struct ptx_joined image;
};

static enum crt_result finish(enum pxr_status status, const struct pxr_error *err)
{
    if (status != PXR_OK)
        crt_report_error(err);
    return crt_result_from_status(status);
}

struct crt_link *crt_link_create(void)
{
    return calloc(1, sizeof(struct crt_link));
}

void crt_link_destroy(struct crt_link *link)
{
    ptx_joined_fini(&link->image);
    free(link);
}

enum crt_result crt_link_add(struct crt_link *link, const void *data, size_t bytes,
                             const char *name, struct pxr_error *err)
{
    return finish(ptx_joined_add(&link->image, (struct ptx_span){data, bytes}, name, err), err);
}

enum crt_result crt_link_add_file(struct crt_link *link, const char *path, struct pxr_error *err)
{
    size_t bytes = 0;
    char *data = pxr_read_file(path, &bytes);
    if (!data) {
        pxr_fail(err, PXR_IO, "cannot read the file '%s' that is to be linked", path);
        return CRT_FILE_NOT_FOUND;
    }
    enum crt_result result = crt_link_add(link, data, bytes, path, err);
    free(data);
    return result;
}

static enum pxr_status find_outline(const struct ptx_joined *image, struct ptx_outline **outline,
                                    struct pxr_error *err)
{
    struct ptx_source *source;
    struct ptx_module *module;
    enum pxr_status status = ptx_source_open(
        image->bytes, image->len, crt_architecture_get()->capability, linked_name, &source, err);
    if (status != PXR_OK)
        return status;
    status = crt_summary_find(source, linked_name, outline, &module, err);
    if (status == PXR_OK)
        ptx_module_destroy(module);
    ptx_source_close(source);
    return status;
}

enum crt_result crt_link_complete(struct crt_link *link, void **image, size_t *bytes, char *info,
                                  size_t cap, struct pxr_error *err)
{
    if (!link->image.len)
        return CRT_INVALID_VALUE;
    struct ptx_outline *outline = NULL;
    enum pxr_status status = find_outline(&link->image, &outline, err);
    if (status == PXR_OK) {
        crt_describe_outline(outline, linked_name, info, cap);
        ptx_outline_destroy(outline);
        *image = link->image.bytes;
        *bytes = link->image.len;
    }
    return finish(status, err);
}
