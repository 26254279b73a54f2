/* SPDX-License-Identifier: Apache-2.0
 *
 * The linker API, for one input: programs use it to turn PTX text into an image they then load. The
 * "cubin" they get is the input itself, which the loader takes as well.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/driver/internal.h"
#include "cudart/driver/jit_options.h"

#define LINK_MAGIC        UINT32_C(0x6c696e6b)
#define INPUT_LIMIT_BYTES ((size_t)1 << 31)

struct cu_link_state {
    uint32_t magic;
    char *input; /* NUL-terminated copy */
    size_t input_bytes;
};

static bool is_link(CUlinkState state)
{
    return state && state->magic == LINK_MAGIC;
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
    struct cu_link_state *created = calloc(1, sizeof *created);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    created->magic = LINK_MAGIC;
    *state = created;
    return CRT_SUCCESS;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t bytes,
                          const char *name, unsigned count, CUjit_option *options, void **values)
{
    (void)name;
    (void)count;
    (void)options;
    (void)values;
    if (!is_link(state))
        return CRT_INVALID_HANDLE;
    if (!data || !bytes || bytes > INPUT_LIMIT_BYTES)
        return CRT_INVALID_VALUE;
    if (type == CU_JIT_INPUT_CUBIN)
        return CRT_NO_BINARY_FOR_GPU;
    if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY)
        return crt_not_supported("cuLinkAddData of objects, libraries and link-time IR");
    if (state->input)
        return crt_not_supported("cuLinkAddData of more than one input");
    state->input = malloc(bytes + 1);
    if (!state->input)
        return CRT_OUT_OF_MEMORY;
    memcpy(state->input, data, bytes);
    state->input[bytes] = '\0';
    state->input_bytes = bytes;
    return CRT_SUCCESS;
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned count,
                          CUjit_option *options, void **values)
{
    if (!is_link(state))
        return CRT_INVALID_HANDLE;
    FILE *file = path ? fopen(path, "rbe") : NULL;
    if (!file)
        return path ? CRT_FILE_NOT_FOUND : CRT_INVALID_VALUE;
    CUresult result = CRT_INVALID_IMAGE;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size > 0 && (size_t)size <= INPUT_LIMIT_BYTES && fseek(file, 0, SEEK_SET) == 0) {
        char *bytes = malloc((size_t)size);
        result = CRT_OUT_OF_MEMORY;
        if (bytes && fread(bytes, 1, (size_t)size, file) == (size_t)size)
            result =
                cuLinkAddData_v2(state, type, bytes, (size_t)size, path, count, options, values);
        free(bytes);
    }
    fclose(file);
    return result;
}

CUresult cuLinkComplete(CUlinkState state, void **cubin, size_t *bytes)
{
    if (!is_link(state))
        return CRT_INVALID_HANDLE;
    if (!cubin || !state->input)
        return CRT_INVALID_VALUE;
    *cubin = state->input;
    if (bytes)
        *bytes = state->input_bytes;
    return CRT_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state)
{
    if (!is_link(state))
        return CRT_INVALID_HANDLE;
    state->magic = 0;
    free(state->input);
    free(state);
    return CRT_SUCCESS;
}
