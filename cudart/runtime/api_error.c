/* SPDX-License-Identifier: Apache-2.0
 *
 * The last error of each host thread, and the names and sentences of errors.
 */
#include "cudart/runtime/runtime.h"

#include "cudart/core/base/error_names.h"
#include "util/log.h"
#include "util/refusal.h"

static _Thread_local cudaError_t last_error;

/* "Not ready" answers a question: it is no error that would be remembered. */
cudaError_t crt_done(cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady) {
        last_error = error;
        crt_tell_error(error);
    }
    return error;
}

cudaError_t crt_unsupported(const char *name)
{
    pxr_refusal_note("%s", name);
    pxr_log_once(name, "%s is not implemented; it returns cudaErrorNotSupported", name);
    return crt_done(cudaErrorNotSupported);
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    crt_tell_asked();
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    crt_tell_asked();
    return last_error;
}

const char *cudaGetErrorName(cudaError_t error)
{
    crt_tell_named(error);
    return crt_error_name(error);
}

const char *cudaGetErrorString(cudaError_t error)
{
    crt_tell_named(error);
    return crt_error_text(error);
}
