/* SPDX-License-Identifier: Apache-2.0
 *
 * pxr_readable_name: names that C++ made, and all others.
 */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "util/readable_name.h"

static void expect_readable(const char *name, const char *readable)
{
    char *text = pxr_readable_name(name);
    cr_assert_not_null(text);
    cr_expect_str_eq(text, readable);
    free(text);
}

Test(readable_name, names_of_cplusplus_are_read)
{
    expect_readable("_Z5scalePfi", "scale(float*, int)");
    expect_readable("_ZN3one3twoILi4EEEvPKd", "void one::two<4>(double const*)");
}

Test(readable_name, others_stay)
{
    static const char *const names[] = {"scale", "", "_", "_Z", "_Zzz?", "_Z5sc"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        expect_readable(names[i], names[i]);
}
