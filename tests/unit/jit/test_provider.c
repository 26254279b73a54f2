/* SPDX-License-Identifier: Apache-2.0
 *
 * Asking for the compiler where there is none: this program is built into a folder of its own.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "jit/jit.h"

Test(provider, missing_compiler_is_an_error_that_names_the_file)
{
    struct jit_request request = {0};
    struct jit_object object;
    struct pxr_error err = {0};
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(jit_compile(&request, &object, &err), PXR_NO_COMPILER);
        cr_expect_eq(err.status, PXR_NO_COMPILER);
        cr_expect_not_null(strstr(err.message, "libptxrun-compile.so"), "%s", err.message);
        cr_expect_not_null(strstr(err.message, "No such file"), "%s", err.message);
        cr_expect_null(object.bytes);
        jit_object_fini(&object);
    }
}

static void *ask(void *argument)
{
    struct jit_request request = {0};
    struct jit_object object;
    *(enum pxr_status *)argument = jit_compile(&request, &object, NULL);
    return NULL;
}

Test(provider, threads_may_ask_first_at_once)
{
    pthread_t threads[8];
    enum pxr_status statuses[8];
    for (int i = 0; i < 8; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, ask, &statuses[i]), 0);
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        cr_expect_eq(statuses[i], PXR_NO_COMPILER);
    }
}
