/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that compile, link and unload at once, some of them in one library of ORC's. A plain
 * program, for the thread sanitizer, too.
 */
#include <pthread.h>

#include "jit/jit.h"
#include "rt_stub.h"
#include "square.h"

static void *make_and_drop(void *argument)
{
    struct kernel *kernel = argument;
    struct jit_loading loading = {.kernel = "square", .owner = kernel->module};
    for (int i = 0; i < 8; i++) {
        struct jit_object object;
        struct jit_code *code;
        struct pxr_error err = {0};
        CHECK(jit_make(&kernel->request, &loading, &object, &code, &err) == PXR_OK);
        struct jit_code *again;
        CHECK(jit_load(&object, &loading, &again, &err) == PXR_OK);
        jit_object_fini(&object);
        check_square(code);
        jit_unload(code);
        check_square(again);
        jit_unload(again);
    }
    return NULL;
}

int main(void)
{
    struct kernel kernels[2];
    pthread_t threads[6];
    for (int i = 0; i < 2; i++)
        open_kernel(&kernels[i], square_ptx, "square");
    for (int i = 0; i < 6; i++)
        CHECK(pthread_create(&threads[i], NULL, make_and_drop, &kernels[i % 2]) == 0);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++)
        close_kernel(&kernels[i]);
    return 0;
}
