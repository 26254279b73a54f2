/* SPDX-License-Identifier: Apache-2.0
 *
 * The table device_runtime.def as data.
 */
#ifndef PTXRUN_KERNEL_ABI_DEVICE_RUNTIME_H
#define PTXRUN_KERNEL_ABI_DEVICE_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

enum rt_device_function {
#define DEVICE_FUNCTION(name, ...) RT_DEVICE_##name,
#include "kernel_abi/device_runtime.def"
#undef DEVICE_FUNCTION
    RT_DEVICE_FUNCTION_COUNT
};

/* Added to the number: stream 0 is the calling thread's own. */
#define RT_DEVICE_PER_THREAD    0x80000000u

#define RT_DEVICE_ARGUMENTS_MAX 8

struct rt_device_function_info {
    const char *name;
    bool gives_pointer;
    uint8_t argument_bytes[RT_DEVICE_ARGUMENTS_MAX + 1]; /* 0 behind the last */
};

extern const struct rt_device_function_info rt_device_functions[RT_DEVICE_FUNCTION_COUNT];

/* The number of the function that PTX knows by this name, perhaps with RT_DEVICE_PER_THREAD; -1:
 * there is none. */
int64_t rt_find_device_function(const char *name);

/* How many bytes the arguments take as they are passed. */
uint32_t rt_device_arguments_bytes(const struct rt_device_function_info *info);

#endif
