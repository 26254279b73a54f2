/* SPDX-License-Identifier: Apache-2.0
 *
 * Trampolines to another library, which is loaded after the constructors have run: the first call
 * fills the slots.
 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include "bridge_functions.h"

static void load(const char *path)
{
    cr_assert_not_null(dlopen(path, RTLD_NOW | RTLD_LOCAL), "%s", dlerror());
}

static double many(void)
{
    return bridged_many(1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 0, 1);
}

/* 101100111011110101 in binary */
#define MANY 184053.0

Test(bridge, the_first_call_keeps_arguments_in_registers_and_on_the_stack)
{
    load(BRIDGE_FUNCTIONS);
    cr_expect_eq(many(), MANY);
    cr_expect_eq(many(), MANY);
}

Test(bridge, the_first_call_may_have_any_number_of_arguments)
{
    load(BRIDGE_FUNCTIONS);
    cr_expect_eq(bridged_sum(3, 1.5, 2.5, 4.0), 8.0);
    cr_expect_eq(bridged_sum(9, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0), 45.0);
}

Test(bridge, the_first_call_may_return_a_struct)
{
    load(BRIDGE_FUNCTIONS);
    struct bridged_large large = bridged_large(40);
    cr_expect_eq(large.numbers[0], 40);
    cr_expect_eq(large.numbers[7], 47);
}

static void *call_many(void *result)
{
    *(double *)result = many();
    return NULL;
}

Test(bridge, several_threads_may_be_first)
{
    enum { THREADS = 8 };
    load(BRIDGE_FUNCTIONS);
    pthread_t threads[THREADS];
    double results[THREADS];
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, call_many, &results[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        cr_expect_eq(results[i], MANY);
    }
}

Test(bridge, a_library_of_another_version_is_not_called, .signal = SIGABRT)
{
    load(BRIDGE_FUNCTIONS_OTHER);
    many();
}
