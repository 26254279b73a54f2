/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that compile, link and unload at once, and an end of the process meanwhile.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
        cr_assert_eq(jit_make(&kernel->request, &loading, &object, &code, &err), PXR_OK, "%s",
                     err.message);
        struct jit_code *again;
        cr_assert_eq(jit_load(&object, &loading, &again, &err), PXR_OK, "%s", err.message);
        jit_object_fini(&object);
        check_square(code);
        jit_unload(code);
        check_square(again);
        jit_unload(again);
    }
    return NULL;
}

Test(orc, threads_share_a_library_while_others_come_and_go)
{
    struct kernel kernels[2];
    pthread_t threads[6];
    for (int i = 0; i < 2; i++)
        open_kernel(&kernels[i], square_ptx, "square");
    for (int i = 0; i < 6; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, make_and_drop, &kernels[i % 2]), 0);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++)
        close_kernel(&kernels[i]);
}

static void *make_for_ever(void *argument)
{
    for (;;)
        make_and_drop(argument);
}

/* Ends a process while threads of it compile, link and unload. */
static void end_while_linking(struct kernel *kernel, long delay_ns)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, make_for_ever, kernel);
    nanosleep(&(struct timespec){.tv_nsec = delay_ns}, NULL);
    exit(7);
}

Test(orc, a_process_may_end_while_code_is_linked, .timeout = 100)
{
    struct kernel kernel;
    open_kernel(&kernel, square_ptx, "square");
    for (long i = 0; i < 12; i++) {
        pid_t child = fork();
        cr_assert_neq(child, -1);
        if (child == 0)
            end_while_linking(&kernel, 10000000 + i * 3000000);
        int status;
        waitpid(child, &status, 0);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 7, "status %x", status);
    }
    close_kernel(&kernel);
}
