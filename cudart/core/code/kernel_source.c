/* SPDX-License-Identifier: Apache-2.0
 *
 * From what is known of a kernel to its PTX, which is parsed when something has to be compiled.
 */
#include <string.h>

#include "cudart/core/base/report.h"
#include "cudart/core/code/module.h"
#include "cudart/core/code/summary.h"

/* What launches rely on was told by a summary. */
static enum pxr_status check_agreement(const struct crt_kernel *kernel, const struct ptx_func *func,
                                       struct pxr_error *err)
{
    static const uint8_t unknown[PTX_DIGEST_BYTES];
    uint8_t digest[PTX_DIGEST_BYTES];
    bool has_digest = memcmp(kernel->outline->digest, unknown, sizeof unknown) != 0;
    enum pxr_status status = PXR_OK;
    if (has_digest)
        status = crt_kernel_digest(kernel->library->ptx, func, &kernel->layout, digest, err);
    bool is_other = has_digest && memcmp(digest, kernel->outline->digest, sizeof digest) != 0;
    if (status != PXR_OK || (kernel->outline->has_needs && !is_other))
        return status;
    return pxr_fail(err, PXR_BAD_IMAGE,
                    "the cached summary of %s does not describe kernel '%s' of its PTX: the cache "
                    "should be cleared",
                    kernel->library->name, kernel->func->name);
}

static enum pxr_status open_locked(struct crt_kernel *kernel, struct pxr_error *err)
{
    enum pxr_status status = crt_library_open_ptx(kernel->library, err);
    if (status != PXR_OK)
        return status;
    const struct ptx_module *ptx = kernel->library->ptx;
    uint32_t index = kernel->func->index;
    const struct ptx_func *func = index < ptx->func_count ? ptx->funcs[index] : NULL;
    if (!func || !func->is_entry || strcmp(func->name, kernel->func->name) != 0)
        return pxr_fail(err, PXR_BAD_IMAGE, "there is no kernel '%s' in the PTX of %s",
                        kernel->func->name, kernel->library->name);
    status = ptx_layout_kernel(ptx, func, &kernel->layout, err);
    if (status != PXR_OK)
        return status;
    status = check_agreement(kernel, func, err);
    if (status != PXR_OK)
        ptx_layout_fini(&kernel->layout);
    else
        kernel->source = func;
    return status;
}

enum pxr_status crt_kernel_open(struct crt_kernel *kernel, struct jit_request *request,
                                struct pxr_error *err)
{
    pthread_mutex_lock(&kernel->source_lock);
    enum pxr_status status = kernel->source ? PXR_OK : open_locked(kernel, err);
    pthread_mutex_unlock(&kernel->source_lock);
    if (status != PXR_OK)
        return status;
    request->module = kernel->library->ptx;
    request->kernel = kernel->source;
    request->layout = &kernel->layout;
    return PXR_OK;
}

const struct ptx_inst *crt_kernel_inst(struct crt_kernel *kernel, int line)
{
    struct pxr_error error;
    if (crt_library_open_ptx(kernel->library, &error) != PXR_OK)
        return NULL;
    const struct ptx_module *ptx = kernel->library->ptx;
    for (uint32_t f = 0; f < ptx->func_count; f++)
        for (uint32_t i = 0; i < ptx->funcs[f]->stmt_count; i++) {
            const struct ptx_stmt *stmt = &ptx->funcs[f]->stmts[i];
            if (stmt->kind == PTX_STMT_INST && stmt->inst.line == line)
                return &stmt->inst;
        }
    return NULL;
}

static bool has_in_line(const struct ptx_func *func, int line, enum ptx_family family)
{
    for (uint32_t i = 0; i < func->stmt_count; i++) {
        const struct ptx_stmt *stmt = &func->stmts[i];
        if (stmt->kind == PTX_STMT_INST && stmt->inst.line == line &&
            ptx_op_table[stmt->inst.op].family == family)
            return true;
    }
    return false;
}

bool crt_kernel_line_has(struct crt_kernel *kernel, int line, enum ptx_family family)
{
    struct pxr_error error;
    bool has = false;
    if (crt_library_open_ptx(kernel->library, &error) != PXR_OK)
        return false;
    const struct ptx_module *ptx = kernel->library->ptx;
    for (uint32_t i = 0; i < ptx->func_count && !has; i++)
        has = has_in_line(ptx->funcs[i], line, family);
    return has;
}

bool crt_kernel_find_place(struct crt_kernel *kernel, int line, struct ptx_place *place)
{
    struct pxr_error error;
    return crt_library_open_ptx(kernel->library, &error) == PXR_OK &&
           ptx_find_place(kernel->library->ptx, line, place);
}

bool crt_kernel_find_caller(struct crt_kernel *kernel, int line, unsigned depth,
                            struct ptx_place *place)
{
    struct pxr_error error;
    return crt_library_open_ptx(kernel->library, &error) == PXR_OK &&
           ptx_find_caller(kernel->library->ptx, line, depth, place);
}

/* Says why the kernel cannot be laid out. */
static enum crt_result refuse(struct crt_kernel *kernel)
{
    struct jit_request request;
    struct pxr_error error = {0};
    enum pxr_status status = crt_kernel_open(kernel, &request, &error);
    crt_report_error(&error);
    return crt_result_from_status(status);
}

enum crt_result crt_kernel_needs(struct crt_kernel *kernel, const struct ptx_kernel_needs **needs)
{
    *needs = &kernel->outline->needs;
    return kernel->outline->has_needs ? CRT_SUCCESS : refuse(kernel);
}
