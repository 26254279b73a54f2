/* SPDX-License-Identifier: Apache-2.0
 *
 * Links made at run time.
 */
#include "cudart/core/code/link.h"

#include <stdlib.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/read_file.h"
#include "cudart/core/base/report.h"
#include "cudart/core/code/module.h"
#include "ptx/image.h"
#include "ptx/joined.h"
#include "ptx/ptx.h"

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
    char *data = crt_read_file(path, &bytes);
    if (!data) {
        pxr_fail(err, PXR_IO, "cannot read the file '%s' that is to be linked", path);
        return CRT_FILE_NOT_FOUND;
    }
    enum crt_result result = crt_link_add(link, data, bytes, path, err);
    free(data);
    return result;
}

enum crt_result crt_link_complete(struct crt_link *link, void **image, size_t *bytes, char *info,
                                  size_t cap, struct pxr_error *err)
{
    if (!link->image.len)
        return CRT_INVALID_VALUE;
    struct ptx_module *module;
    enum pxr_status status =
        ptx_image_load_sized(link->image.bytes, link->image.len, crt_architecture_get()->capability,
                             "linked image", &module, err);
    if (status == PXR_OK) {
        crt_describe_module(module, "linked image", info, cap);
        ptx_module_destroy(module);
        *image = link->image.bytes;
        *bytes = link->image.len;
    }
    return finish(status, err);
}
