/* SPDX-License-Identifier: Apache-2.0
 *
 * Filling in struct pxr_error.
 */
#include "util/error.h"

#include <stdio.h>
#include <string.h>

static enum pxr_status fail(struct pxr_error *err, enum pxr_status status, int line, int column,
                            const char *format, va_list args)
{
    if (err) {
        err->status = status;
        err->line = line;
        err->column = column;
        vsnprintf(err->message, sizeof err->message, format, args);
    }
    return status;
}

enum pxr_status pxr_fail(struct pxr_error *err, enum pxr_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(err, status, 0, 0, format, args);
    va_end(args);
    return status;
}

enum pxr_status pxr_fail_at(struct pxr_error *err, enum pxr_status status, int line, int column,
                            const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(err, status, line, column, format, args);
    va_end(args);
    return status;
}

void pxr_error_prefix(struct pxr_error *err, const char *format, ...)
{
    if (!err)
        return;
    char old[PXR_ERROR_MESSAGE_BYTES];
    memcpy(old, err->message, sizeof old);
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    size_t used = strlen(err->message);
    snprintf(err->message + used, sizeof err->message - used, ": %s", old);
}

const char *pxr_status_name(enum pxr_status status)
{
    static const char *const names[PXR_STATUS_COUNT] = {
        [PXR_OK] = "success",
        [PXR_OUT_OF_MEMORY] = "out of memory",
        [PXR_INVALID_ARGUMENT] = "invalid argument",
        [PXR_NOT_FOUND] = "not found",
        [PXR_IO] = "input/output error",
        [PXR_BAD_IMAGE] = "bad image",
        [PXR_BAD_PTX] = "bad PTX",
        [PXR_NEWER_PTX] = "PTX of a later version",
        [PXR_NO_PTX] = "no PTX",
        [PXR_UNSUPPORTED] = "unsupported",
        [PXR_OUT_OF_RESOURCES] = "out of resources",
        [PXR_COMPILE_FAILED] = "compilation failed",
        [PXR_NO_COMPILER] = "no compiler",
        [PXR_FAULT_ADDRESS] = "illegal address",
        [PXR_FAULT_MISALIGNED] = "misaligned address",
        [PXR_FAULT_TRAP] = "trap",
        [PXR_FAULT_ASSERT] = "assertion failed",
        [PXR_FAULT_INSTRUCTION] = "illegal instruction",
        [PXR_FAULT_PC] = "call through an invalid function pointer",
        [PXR_FAULT_STACK] = "stack overflow",
        [PXR_FAULT_DEADLOCK] = "deadlock",
        [PXR_FAULT_TIMEOUT] = "timeout",
    };
    if ((unsigned)status >= PXR_STATUS_COUNT)
        return "unknown status";
    return names[status];
}
