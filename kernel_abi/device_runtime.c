/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_abi/device_runtime.h"

#include <string.h>

#define GIVES_ERROR   false
#define GIVES_POINTER true

const struct rt_device_function_info rt_device_functions[RT_DEVICE_FUNCTION_COUNT] = {
#define DEVICE_FUNCTION(id, gives, ...) [RT_DEVICE_##id] = {#id, GIVES_##gives, {__VA_ARGS__}},
#include "kernel_abi/device_runtime.def"
#undef DEVICE_FUNCTION
};

/* What is behind the prefix; NULL: it is another one. */
static const char *skip(const char *name, const char *prefix)
{
    size_t len = strlen(prefix);
    return strncmp(name, prefix, len) == 0 ? name + len : NULL;
}

static bool is_named(const char *name, const char *wanted, bool *is_per_thread)
{
    const char *rest = skip(name, wanted);
    *is_per_thread = rest && strcmp(rest, "_ptsz") == 0;
    return rest && (*rest == '\0' || *is_per_thread);
}

int64_t rt_find_device_function(const char *name)
{
    const char *rest = skip(name, "__cudaCDP2");
    bool is_per_thread;
    if (!rest)
        rest = skip(name, "cuda");
    for (int64_t i = 0; rest && i < RT_DEVICE_FUNCTION_COUNT; i++)
        if (is_named(rest, rt_device_functions[i].name, &is_per_thread))
            return is_per_thread ? i | RT_DEVICE_PER_THREAD : i;
    return -1;
}

uint32_t rt_device_arguments_bytes(const struct rt_device_function_info *info)
{
    uint32_t bytes = 0;
    for (unsigned i = 0; info->argument_bytes[i] != 0; i++)
        bytes += (info->argument_bytes[i] + 7u) / 8 * 8;
    return bytes;
}
