/* SPDX-License-Identifier: Apache-2.0
 *
 * Every function of the runtime that is not implemented exists and says so. They are declared here
 * as what they are: functions that look at no argument.
 */
#include <criterion/criterion.h>
#include <stddef.h>
#include <stdlib.h>

#define NOT_SUPPORTED 801

int cudaGetLastError(void);
int cudaGetDeviceCount(int *count);

#define CUDART_IMPLEMENTED(name)
#define CUDART_STUB(name) int name(void);
#include "cudart/runtime/symbols.def"
#undef CUDART_STUB

static const struct {
    const char *name;
    int (*function)(void);
} missing[] = {
#define CUDART_STUB(name) {#name, name},
#include "cudart/runtime/symbols.def"
#undef CUDART_STUB
};

Test(rt_unsupported, every_missing_function_of_the_runtime_says_so)
{
    int count;
    setenv("PTXRUN_LOG", "error", 1);
    cr_assert_eq(cudaGetDeviceCount(&count), 0);
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
        cr_expect_eq(missing[i].function(), NOT_SUPPORTED, "%s", missing[i].name);
        cr_expect_eq(cudaGetLastError(), NOT_SUPPORTED, "%s", missing[i].name);
    }
}
