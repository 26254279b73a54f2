/* SPDX-License-Identifier: Apache-2.0
 *
 * What was logged, for programs that ask (cudart/core/base/messages.h).
 */
#include <stdio.h>
#include <stdlib.h>

#include "cudart/core/base/messages.h"
#include "cudart/driver/internal.h"

CUresult cuLogsRegisterCallback(CUlogsCallback callback, void *data, CUlogsCallbackHandle *handle)
{
    CUresult result = crt_messages_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_listener *listener = NULL;
    if (!callback)
        return CRT_INVALID_VALUE;
    result = crt_messages_listen((crt_message_fn)callback, data, &listener);
    if (result == CRT_SUCCESS && handle)
        *handle = listener;
    return result;
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle)
{
    CUresult result = crt_messages_ready();
    if (result != CRT_SUCCESS)
        return result;
    return crt_messages_unlisten(handle);
}

CUresult cuLogsCurrent(CUlogIterator *iterator, unsigned flags)
{
    CUresult result = crt_messages_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!iterator || flags)
        return CRT_INVALID_VALUE;
    *iterator = crt_messages_tail();
    return CRT_SUCCESS;
}

CUresult cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size, unsigned flags)
{
    CUresult result = crt_messages_ready();
    if (result != CRT_SUCCESS)
        return result;
    bool is_too_small = false;
    if (!buffer || !size || flags)
        return CRT_INVALID_VALUE;
    *size = crt_messages_copy(iterator, buffer, *size, &is_too_small);
    return is_too_small ? CRT_INVALID_VALUE : CRT_SUCCESS;
}

CUresult cuLogsDumpToFile(CUlogIterator *iterator, const char *path, unsigned flags)
{
    CUresult result = crt_messages_ready();
    if (result != CRT_SUCCESS)
        return result;
    bool is_too_small = false;
    if (!path || flags)
        return CRT_INVALID_VALUE;
    FILE *file = fopen(path, "we");
    if (!file)
        return CRT_INVALID_VALUE;
    char *text = malloc(CRT_MESSAGES_BYTES);
    size_t len = text ? crt_messages_copy(iterator, text, CRT_MESSAGES_BYTES, &is_too_small) : 0;
    bool is_written = text && fwrite(text, 1, len, file) == len;
    free(text);
    is_written &= fclose(file) == 0;
    return is_written ? CRT_SUCCESS : CRT_INVALID_VALUE;
}
