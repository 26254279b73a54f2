/* SPDX-License-Identifier: Apache-2.0
 *
 * The linker API (cudart/core/code/link.h).
 */
#include <stdlib.h>

#include "cudart/core/base/object.h"
#include "cudart/core/code/link.h"
#include "cudart/driver/internal.h"
#include "cudart/driver/jit_options.h"

#define INPUT_LIMIT_BYTES ((size_t)1 << 31)

struct cu_link_state {
    struct crt_object object;
    struct jit_log log; /* buffers and sizes are the caller's until the state is destroyed */
    struct crt_link *link;
};

static bool is_link(CUlinkState state)
{
    return crt_object_is(state, CRT_KIND_LINK);
}

CUresult cuLinkCreate_v2(unsigned count, CUjit_option *options, void **values, CUlinkState *state)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    struct jit_log log;
    result = jit_log_init(&log, count, options, values);
    if (result != CRT_SUCCESS || !state)
        return CRT_INVALID_VALUE;
    struct cu_link_state *created = crt_object_create(CRT_KIND_LINK, sizeof *created);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    created->log = log;
    created->link = crt_link_create();
    if (!created->link) {
        crt_object_destroy(CRT_KIND_LINK, created);
        return CRT_OUT_OF_MEMORY;
    }
    *state = created;
    return CRT_SUCCESS;
}

/* What all inputs are checked for; link-time IR cannot be run. */
static CUresult check_input(CUlinkState state, CUjitInputType type, unsigned count,
                            CUjit_option *options, void **values)
{
    struct jit_log ignored;
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!is_link(state))
        return CRT_INVALID_HANDLE;
    if (type < 0 || type >= CU_JIT_NUM_INPUT_TYPES)
        return CRT_INVALID_VALUE;
    if (type == CU_JIT_INPUT_NVVM)
        return crt_not_supported("cuLinkAddData of link-time IR");
    return jit_log_init(&ignored, count, options, values);
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t bytes,
                          const char *name, unsigned count, CUjit_option *options, void **values)
{
    CUresult result = check_input(state, type, count, options, values);
    if (result != CRT_SUCCESS)
        return result;
    if (!data || !bytes || bytes > INPUT_LIMIT_BYTES)
        return CRT_INVALID_VALUE;
    struct pxr_error err = {0};
    result = crt_link_add(state->link, data, bytes, name && *name ? name : "link input", &err);
    jit_log_finish(&state->log, &err);
    return result;
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned count,
                          CUjit_option *options, void **values)
{
    CUresult result = check_input(state, type, count, options, values);
    if (result != CRT_SUCCESS)
        return result;
    if (!path)
        return CRT_INVALID_VALUE;
    struct pxr_error err = {0};
    result = crt_link_add_file(state->link, path, &err);
    jit_log_finish(&state->log, &err);
    return result;
}

CUresult cuLinkComplete(CUlinkState state, void **cubin, size_t *bytes)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!is_link(state))
        return CRT_INVALID_HANDLE;
    if (!cubin)
        return CRT_INVALID_VALUE;
    struct pxr_error err = {0};
    size_t size;
    char *info = state->log.info.cap ? calloc(1, JIT_INFO_BYTES) : NULL;
    result = crt_link_complete(state->link, cubin, bytes ? bytes : &size, info,
                               info ? JIT_INFO_BYTES : 0, &err);
    if (info)
        jit_log_add(&state->log.info, info);
    free(info);
    jit_log_finish(&state->log, &err);
    return result;
}

CUresult cuLinkDestroy(CUlinkState state)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!is_link(state))
        return CRT_INVALID_HANDLE;
    crt_link_destroy(state->link);
    crt_object_destroy(CRT_KIND_LINK, state);
    return CRT_SUCCESS;
}
