/* SPDX-License-Identifier: Apache-2.0
 *
 * A call of the device runtime: the functions of kernel_abi/device_runtime.def are crt_do_NAME.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_DEVICE_CALL_H
#define PTXRUN_CUDART_CORE_CODE_DEVICE_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cudart/core/code/children.h"

struct crt_device_call {
    struct rt_thread *thread;
    const uint8_t *arguments;
    bool is_per_thread; /* stream 0 is the thread's own */
    uint64_t result;    /* of what is done aside */
};

/* ---- arguments, by the 8 bytes that they begin at ---- */

static inline uint64_t crt_call_number(const struct crt_device_call *call, unsigned word)
{
    uint64_t value;
    memcpy(&value, call->arguments + word * sizeof value, sizeof value);
    return value;
}

static inline uint32_t crt_call_small_number(const struct crt_device_call *call, unsigned word)
{
    return (uint32_t)crt_call_number(call, word);
}

static inline void *crt_call_pointer(const struct crt_device_call *call, unsigned word)
{
    return (void *)(uintptr_t)crt_call_number(call, word);
}

static inline uint64_t crt_call_stream(const struct crt_device_call *call, unsigned word)
{
    return crt_child_default_stream(crt_call_number(call, word), call->is_per_thread);
}

/* What the function gives: an error as in children.h, or a pointer. */
#define DEVICE_FUNCTION(name, ...) uint64_t crt_do_##name(struct crt_device_call *call);
#include "kernel_abi/device_runtime.def"
#undef DEVICE_FUNCTION

#endif
