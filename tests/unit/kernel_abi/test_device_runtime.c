/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of functions of the device runtime.
 */
#include <criterion/criterion.h>

#include "kernel_abi/device_runtime.h"

Test(device_runtime, functions_are_found_by_all_their_names)
{
    cr_expect_eq(rt_find_device_function("cudaFree"), RT_DEVICE_Free);
    cr_expect_eq(rt_find_device_function("__cudaCDP2Free"), RT_DEVICE_Free);
    cr_expect_eq(rt_find_device_function("__cudaCDP2LaunchDeviceV2_ptsz"),
                 RT_DEVICE_LaunchDeviceV2 | (int64_t)RT_DEVICE_PER_THREAD);
    cr_expect_eq(rt_find_device_function("cudaLaunchDevice"), RT_DEVICE_LaunchDevice);
    cr_expect_eq(rt_find_device_function("cudaGetParameterBuffer"), RT_DEVICE_GetParameterBuffer);
}

Test(device_runtime, other_names_are_not)
{
    static const char *const names[] = {"Free",          "cudaFre",      "cudaFree2",
                                        "__cudaFree",    "cuda",         "__cudaCDP2",
                                        "cudaFree_ptds", "cudaFree_pts", "vprintf"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        cr_expect_eq(rt_find_device_function(names[i]), -1, "%s", names[i]);
}

Test(device_runtime, arguments_lie_at_multiples_of_eight_bytes)
{
    cr_expect_eq(rt_device_arguments_bytes(&rt_device_functions[RT_DEVICE_GetLastError]), 0);
    cr_expect_eq(rt_device_arguments_bytes(&rt_device_functions[RT_DEVICE_GetParameterBufferV2]),
                 8 + 16 + 16 + 8);
    cr_expect_eq(rt_device_arguments_bytes(&rt_device_functions[RT_DEVICE_Memset3DAsync]),
                 32 + 8 + 24 + 8);
    for (int i = 0; i < RT_DEVICE_FUNCTION_COUNT; i++) {
        const uint8_t *bytes = rt_device_functions[i].argument_bytes;
        cr_expect_eq(bytes[RT_DEVICE_ARGUMENTS_MAX], 0);
        for (unsigned a = 0; bytes[a] != 0; a++)
            cr_expect_eq(bytes[a] % 4, 0, "%s", rt_device_functions[i].name);
    }
}
