/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels: when they count as loaded, the launches that old programs assemble piece by piece, and
 * the lines about kernels in the compiler's information log.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/process.h"
#include "cudart/core/code/module.h"

bool crt_kernel_is_loaded(const struct crt_kernel *kernel)
{
    return crt_environment_get()->loads_eagerly ||
           atomic_load_explicit(&kernel->is_wanted, memory_order_relaxed) ||
           crt_kernel_has_code(kernel);
}

void crt_kernel_want(struct crt_kernel *kernel)
{
    atomic_store_explicit(&kernel->is_wanted, true, memory_order_relaxed);
}

enum crt_result crt_kernel_load(struct crt_kernel *kernel)
{
    enum crt_result result = crt_kernel_check(kernel);
    if (result == CRT_SUCCESS)
        crt_kernel_want(kernel);
    return result;
}

/* ---- old launches ---- */

enum crt_result crt_kernel_put_old(struct crt_kernel *kernel, size_t offset, const void *bytes,
                                   size_t count)
{
    if (offset > sizeof *kernel->old_launch || count > sizeof *kernel->old_launch - offset)
        return CRT_INVALID_VALUE;
    pthread_mutex_lock(&kernel->lock);
    if (!kernel->old_launch)
        kernel->old_launch = calloc(1, sizeof *kernel->old_launch);
    enum crt_result result = kernel->old_launch ? CRT_SUCCESS : CRT_OUT_OF_MEMORY;
    if (kernel->old_launch && count)
        memcpy((char *)kernel->old_launch + offset, bytes, count);
    pthread_mutex_unlock(&kernel->lock);
    return result;
}

void crt_kernel_get_old(struct crt_kernel *kernel, struct crt_old_launch *launch)
{
    pthread_mutex_lock(&kernel->lock);
    if (kernel->old_launch)
        *launch = *kernel->old_launch;
    else
        memset(launch, 0, sizeof *launch);
    pthread_mutex_unlock(&kernel->lock);
}

/* ---- lines for the information log ---- */

static void describe_kernel(FILE *out, const struct ptx_outline_kernel *kernel)
{
    if (!kernel->has_needs)
        return;
    fprintf(out,
            "ptxrun: kernel '%s': %u bytes of parameters, %u bytes of shared memory, %u bytes of "
            "local memory\n",
            kernel->head.name, (unsigned)kernel->head.param_bytes,
            (unsigned)crt_static_shared(&kernel->needs), (unsigned)kernel->needs.local_bytes);
}

size_t crt_describe_outline(const struct ptx_outline *outline, const char *name, char *text,
                            size_t cap)
{
    uint64_t variable_bytes[2] = {0, 0};
    for (uint32_t i = 0; i < outline->var_count; i++) {
        const struct ptx_var *var = outline->vars[i];
        if (var->space == PTX_SPACE_GLOBAL || var->space == PTX_SPACE_CONST)
            variable_bytes[var->space == PTX_SPACE_CONST] += var->size_bytes;
    }
    FILE *out = cap ? fmemopen(text, cap, "w") : NULL;
    if (!out)
        return 0;
    fprintf(out, "ptxrun: %s: %llu bytes of global memory, %llu bytes of constant memory\n", name,
            (unsigned long long)variable_bytes[0], (unsigned long long)variable_bytes[1]);
    for (uint32_t i = 0; i < outline->kernel_count; i++)
        describe_kernel(out, &outline->kernels[i]);
    fclose(out);
    text[cap - 1] = '\0';
    return strlen(text);
}

size_t crt_library_describe(const struct crt_library *library, char *text, size_t cap)
{
    return library->outline ? crt_describe_outline(library->outline, library->name, text, cap) : 0;
}
