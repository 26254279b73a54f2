/* SPDX-License-Identifier: Apache-2.0
 *
 * Every function of the driver that is not implemented exists and says so. They are declared here
 * as what they are: functions that look at no argument.
 */
#include <criterion/criterion.h>
#include <stddef.h>
#include <stdlib.h>

#include "cudart/core/base/result.h"

enum crt_result cuInit(unsigned flags);

#define IMPLEMENTED(name)
#define MISSING(name) enum crt_result name(void);
#include "cudart/driver/symbols.def"
#undef MISSING

static const struct {
    const char *name;
    enum crt_result (*function)(void);
} missing[] = {
#define MISSING(name) {#name, name},
#include "cudart/driver/symbols.def"
#undef MISSING
};

Test(unsupported, every_missing_function_of_the_driver_says_so)
{
    setenv("PTXRUN_LOG", "error", 1);
    cr_assert_eq(cuInit(0), CRT_SUCCESS);
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++)
        cr_expect_eq(missing[i].function(), CRT_NOT_SUPPORTED, "%s", missing[i].name);
}
