/* SPDX-License-Identifier: Apache-2.0
 *
 * External memory and semaphores.
 */
#include "cudart/core/memory/external.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/leak.h"
#include "cudart/core/memory/file_mapping.h"
#include "cudart/core/memory/mem_op.h"
#include "cudart/core/streams/context.h"

/* CRT_SUCCESS for a file that can be read and written as memory and is so long. */
static enum crt_result check_file(int file, uint64_t size_bytes)
{
    struct stat status;
    int flags = fcntl(file, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) != O_RDWR || fstat(file, &status) != 0)
        return CRT_INVALID_VALUE;
    if (!S_ISREG(status.st_mode))
        return crt_not_supported("memory and timelines behind a descriptor that is no file");
    return size_bytes && size_bytes <= (uint64_t)status.st_size ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

/* Whether it is an eventfd: a system call does not say so. */
static bool is_event(int file)
{
    char link[64];
    char target[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t bytes = readlink(link, target, sizeof target - 1);
    if (bytes < 0)
        return false;
    target[bytes] = 0;
    return strcmp(target, "anon_inode:[eventfd]") == 0;
}

enum crt_result crt_external_import(int file, uint64_t size_bytes,
                                    struct crt_external_memory **memory)
{
    enum crt_result result = check_file(file, size_bytes);
    if (result != CRT_SUCCESS)
        return result;
    struct crt_external_memory *made = crt_object_create(CRT_KIND_EXTERNAL_MEMORY, sizeof *made);
    if (!made)
        return CRT_OUT_OF_MEMORY;
    made->file = file;
    made->size_bytes = size_bytes;
    fcntl(file, F_SETFD, FD_CLOEXEC);
    crt_leak_note("external memory", made, size_bytes);
    *memory = made;
    return CRT_SUCCESS;
}

bool crt_external_is_valid(const struct crt_external_memory *memory)
{
    return crt_object_is(memory, CRT_KIND_EXTERNAL_MEMORY);
}

enum crt_result crt_external_destroy(struct crt_external_memory *memory)
{
    if (!crt_external_is_valid(memory))
        return CRT_INVALID_HANDLE;
    crt_leak_forget(memory);
    close(memory->file);
    crt_object_destroy(CRT_KIND_EXTERNAL_MEMORY, memory);
    return CRT_SUCCESS;
}

enum crt_result crt_external_map(struct crt_context *ctx, const struct crt_external_memory *memory,
                                 uint64_t offset, uint64_t size_bytes, uintptr_t *base)
{
    if (size_bytes == 0 || size_bytes > memory->size_bytes ||
        offset > memory->size_bytes - size_bytes)
        return CRT_INVALID_VALUE;
    struct crt_file_part part = {memory->file, offset, size_bytes};
    struct crt_allocation mapped;
    enum crt_result result =
        crt_file_map(&part, CRT_MEMORY_EXTERNAL, ctx, ctx->device->index, &mapped);
    if (result == CRT_SUCCESS)
        *base = mapped.base;
    return result;
}

/* ---- semaphores ---- */

static enum crt_result open_timeline(struct crt_semaphore *semaphore, int file)
{
    struct crt_file_part part = {file, 0, sizeof(uint64_t)};
    struct crt_allocation mapped;
    enum crt_result result = crt_file_map(&part, CRT_MEMORY_EXTERNAL, semaphore->ctx,
                                          semaphore->ctx->device->index, &mapped);
    if (result != CRT_SUCCESS)
        return result;
    crt_leak_forget((const void *)mapped.base); /* the semaphore is what the program has to end */
    semaphore->reached = mapped.base;
    return CRT_SUCCESS;
}

enum crt_result crt_semaphore_import(struct crt_context *ctx, int file, bool is_timeline,
                                     struct crt_semaphore **semaphore)
{
    enum crt_result result = CRT_SUCCESS;
    if (is_timeline)
        result = check_file(file, sizeof(uint64_t));
    else if (fcntl(file, F_GETFL) < 0)
        result = CRT_INVALID_VALUE;
    else if (!is_event(file))
        result = crt_not_supported("semaphores behind a descriptor that is no eventfd");
    if (result != CRT_SUCCESS)
        return result;
    struct crt_semaphore *made = crt_object_create(CRT_KIND_SEMAPHORE, sizeof *made);
    if (!made)
        return CRT_OUT_OF_MEMORY;
    made->ctx = ctx;
    made->event = is_timeline ? -1 : file;
    result = is_timeline ? open_timeline(made, file) : CRT_SUCCESS;
    if (result != CRT_SUCCESS) {
        crt_object_destroy(CRT_KIND_SEMAPHORE, made);
        return result;
    }
    if (is_timeline)
        close(file);
    else
        fcntl(file, F_SETFD, FD_CLOEXEC);
    crt_leak_note("external semaphore", made, 0);
    *semaphore = made;
    return CRT_SUCCESS;
}

bool crt_semaphore_is_valid(const struct crt_semaphore *semaphore)
{
    return crt_object_is(semaphore, CRT_KIND_SEMAPHORE);
}

enum crt_result crt_semaphore_destroy(struct crt_semaphore *semaphore)
{
    if (!crt_semaphore_is_valid(semaphore))
        return CRT_INVALID_HANDLE;
    enum crt_result result = CRT_SUCCESS;
    if (crt_context_is_valid(semaphore->ctx))
        result = crt_context_wait(semaphore->ctx);
    if (result == CRT_NOT_PERMITTED)
        return result;
    crt_leak_forget(semaphore);
    if (semaphore->event >= 0)
        close(semaphore->event);
    else
        crt_arena_free(semaphore->reached, CRT_MEMORY_EXTERNAL);
    crt_object_destroy(CRT_KIND_SEMAPHORE, semaphore);
    return result;
}

struct crt_mem_op crt_semaphore_op(const struct crt_semaphore *semaphore, bool is_wait,
                                   uint64_t value)
{
    if (semaphore->event >= 0)
        return (struct crt_mem_op){.kind = is_wait ? CRT_MEM_OP_TAKE_EVENT : CRT_MEM_OP_GIVE_EVENT,
                                   .value = (uint64_t)semaphore->event};
    return (struct crt_mem_op){.kind = is_wait ? CRT_MEM_OP_WAIT_64 : CRT_MEM_OP_WRITE_64,
                               .flags = is_wait ? CRT_WAIT_GREATER_EQUAL : 0,
                               .address = semaphore->reached,
                               .value = value};
}
