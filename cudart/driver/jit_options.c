/* SPDX-License-Identifier: Apache-2.0
 *
 * Log buffers of the just-in-time compiler, and how long it took.
 */
#include "cudart/driver/jit_options.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cudart/core/code/module.h"

#define OPTIMIZATION_LEVEL_MAX 4

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static CUresult take_option(struct jit_log *log, CUjit_option option, void **value)
{
    size_t number = (unsigned)(uintptr_t)*value;
    switch (option) {
    case CU_JIT_WALL_TIME:
        log->wall_time = value;
        return CRT_SUCCESS;
    case CU_JIT_ERROR_LOG_BUFFER:
        log->error.text = *value;
        return CRT_SUCCESS;
    case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        log->error.cap = number;
        log->error.len = value;
        return CRT_SUCCESS;
    case CU_JIT_INFO_LOG_BUFFER:
        log->info.text = *value;
        return CRT_SUCCESS;
    case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        log->info.cap = number;
        log->info.len = value;
        return CRT_SUCCESS;
    case CU_JIT_OPTIMIZATION_LEVEL:
        return number <= OPTIMIZATION_LEVEL_MAX ? CRT_SUCCESS : CRT_INVALID_VALUE;
    default:
        return option >= 0 && option < CU_JIT_NUM_OPTIONS ? CRT_SUCCESS : CRT_INVALID_VALUE;
    }
}

static void clear(struct jit_buffer *buffer)
{
    if (!buffer->text)
        buffer->cap = 0;
    if (buffer->cap)
        buffer->text[0] = '\0';
}

CUresult jit_log_init(struct jit_log *log, unsigned count, const CUjit_option *options,
                      void **values)
{
    *log = (struct jit_log){.start_ns = now_ns()};
    if (count && (!options || !values))
        return CRT_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        CUresult result = take_option(log, options[i], &values[i]);
        if (result != CRT_SUCCESS)
            return result;
    }
    clear(&log->error);
    clear(&log->info);
    return CRT_SUCCESS;
}

void jit_log_add(struct jit_buffer *buffer, const char *text)
{
    size_t len = strlen(text);
    if (!len || buffer->cap < 2 || buffer->used + 1 >= buffer->cap)
        return;
    if (buffer->used && buffer->text[buffer->used - 1] != '\n')
        buffer->text[buffer->used++] = '\n';
    size_t room = buffer->cap - 1 - buffer->used;
    len = len < room ? len : room;
    memcpy(buffer->text + buffer->used, text, len);
    buffer->used += len;
    buffer->text[buffer->used] = '\0';
}

void jit_log_describe(struct jit_log *log, CUlibrary library)
{
    char *text = log->info.cap ? malloc(JIT_INFO_BYTES) : NULL;
    if (text && crt_library_describe(library, text, JIT_INFO_BYTES))
        jit_log_add(&log->info, text);
    free(text);
}

void jit_log_finish(struct jit_log *log, const struct pxr_error *error)
{
    if (error->status != PXR_OK)
        jit_log_add(&log->error, error->message);
    if (log->error.len)
        *log->error.len = (void *)log->error.used;
    if (log->info.len)
        *log->info.len = (void *)log->info.used;
    if (log->wall_time) {
        float ms = (float)(now_ns() - log->start_ns) / 1e6f;
        *log->wall_time = NULL;
        memcpy((void *)log->wall_time, &ms, sizeof ms);
    }
}
