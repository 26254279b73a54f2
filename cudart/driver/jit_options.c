/* SPDX-License-Identifier: Apache-2.0
 *
 * Log buffers of the just-in-time compiler.
 */
#include "cudart/driver/jit_options.h"

#include <stdio.h>
#include <string.h>

CUresult jit_log_init(struct jit_log *log, unsigned count, const CUjit_option *options,
                      void **values)
{
    *log = (struct jit_log){0};
    if (count && (!options || !values))
        return CRT_INVALID_VALUE;
    char *info_text = NULL;
    size_t info_cap = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS)
            return CRT_INVALID_VALUE;
        switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER:
            log->error_text = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            log->error_cap = (unsigned)(uintptr_t)values[i];
            log->error_len = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER:
            info_text = values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            info_cap = (unsigned)(uintptr_t)values[i];
            log->info_len = &values[i];
            break;
        default:
            break;
        }
    }
    if (info_text && info_cap)
        info_text[0] = '\0';
    if (log->error_text && log->error_cap)
        log->error_text[0] = '\0';
    return CRT_SUCCESS;
}

void jit_log_finish(const struct jit_log *log, const struct pxr_error *error)
{
    size_t len = 0;
    if (log->error_text && log->error_cap && error->status != PXR_OK) {
        snprintf(log->error_text, log->error_cap, "%s", error->message);
        len = strlen(log->error_text);
    }
    if (log->error_len)
        *log->error_len = (void *)len;
    if (log->info_len)
        *log->info_len = NULL;
}
