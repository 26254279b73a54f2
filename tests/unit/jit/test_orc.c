/* SPDX-License-Identifier: Apache-2.0
 *
 * Code that ORC has linked: what is kept of it, what is left of it, and what becomes of failures.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jit/jit.h"
#include "rt_stub.h"
#include "square.h"

static const char unsupported_ptx[] =
    HEAD ".visible .entry bad(.param .u64 p)\n"
         "{\n"
         "    .reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
         "    ld.param.u64 %rd1, [p];\n"
         "    tex.2dms.v4.u32.s32 {%r1, %r1, %r1, %r1}, [%rd1, {%r1, %r1, %r1, %r1}];\n"
         "    ret;\n"
         "}\n";

struct kept {
    unsigned count;
    struct jit_object copy;
};

static void keep(void *argument, const struct jit_object *object)
{
    struct kept *kept = argument;
    kept->count++;
    kept->copy = *object;
    kept->copy.bytes = malloc(object->size_bytes);
    memcpy(kept->copy.bytes, object->bytes, object->size_bytes);
}

Test(orc, a_fresh_object_is_kept_as_it_can_be_loaded_again)
{
    struct kernel kernel;
    open_kernel(&kernel, square_ptx, "square");
    struct kept kept = {0};
    struct jit_loading loading = {
        .kernel = "square", .owner = kernel.module, .keep = keep, .keep_argument = &kept};
    struct jit_object object;
    struct jit_code *code;
    struct pxr_error err = {0};
    cr_assert_eq(jit_make(&kernel.request, &loading, &object, &code, &err), PXR_OK, "%s",
                 err.message);
    cr_expect_eq(kept.count, 1);
    cr_assert_eq(kept.copy.size_bytes, object.size_bytes);
    cr_expect_arr_eq(kept.copy.bytes, object.bytes, object.size_bytes);
    check_square(code);
    jit_object_fini(&object);

    struct jit_code *again;
    cr_assert_eq(jit_load(&kept.copy, &loading, &again, &err), PXR_OK, "%s", err.message);
    free(kept.copy.bytes);
    cr_expect_eq(kept.count, 1, "what was at hand is not fresh");
    cr_expect_neq((uintptr_t)jit_code_entry(again), (uintptr_t)jit_code_entry(code));
    jit_unload(code);
    check_square(again);
    cr_expect_neq(jit_code_line(again, (uintptr_t)jit_code_entry(again) + 16), 0);
    jit_unload(again);
    close_kernel(&kernel);
}

static uint64_t mapped_bytes(const char *rights)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    cr_assert_not_null(maps);
    char line[512];
    uint64_t bytes = 0;
    while (fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        char found[5];
        if (sscanf(line, "%lx-%lx %4s", &start, &end, found) == 3 && strncmp(found, rights, 3) == 0)
            bytes += end - start;
    }
    fclose(maps);
    return bytes;
}

Test(orc, nothing_is_writable_and_executable_and_nothing_is_left)
{
    struct kernel kernel;
    open_kernel(&kernel, square_ptx, "square");
    struct jit_loading loading = {.kernel = "square", .owner = kernel.module};
    uint64_t before = 0;
    for (int i = 0; i < 50; i++) {
        struct jit_object object;
        struct jit_code *codes[3];
        for (int c = 0; c < 3; c++) {
            cr_assert_eq(jit_make(&kernel.request, &loading, &object, &codes[c], NULL), PXR_OK);
            jit_object_fini(&object);
        }
        cr_expect_eq(mapped_bytes("rwx"), 0);
        for (int c = 0; c < 3; c++)
            jit_unload(codes[c]);
        if (i == 0)
            before = mapped_bytes("r-x");
        cr_expect_eq(mapped_bytes("r-x"), before);
    }
    close_kernel(&kernel);
}

Test(orc, a_kernel_that_cannot_be_compiled_harms_no_other)
{
    struct kernel bad, good;
    open_kernel(&bad, unsupported_ptx, "bad");
    open_kernel(&good, square_ptx, "square");
    /* One library of ORC's for both. */
    struct jit_loading loading = {.kernel = "some", .owner = &bad};
    for (int i = 0; i < 3; i++) {
        struct jit_object object;
        struct jit_code *code;
        struct pxr_error err = {0};
        cr_expect_eq(jit_make(&bad.request, &loading, &object, &code, &err), PXR_UNSUPPORTED);
        cr_expect_not_null(strstr(err.message, "tex.2dms"), "%s", err.message);
        cr_expect_null(object.bytes);
        cr_expect_null(code);
        cr_assert_eq(jit_make(&good.request, &loading, &object, &code, &err), PXR_OK, "%s",
                     err.message);
        check_square(code);
        jit_object_fini(&object);
        jit_unload(code);
    }
    close_kernel(&bad);
    close_kernel(&good);
}

static void *make_for_ever(void *argument)
{
    struct kernel *kernel = argument;
    struct jit_loading loading = {.kernel = "square", .owner = kernel->module};
    for (;;) {
        struct jit_object object;
        struct jit_code *code;
        if (jit_make(&kernel->request, &loading, &object, &code, NULL) == PXR_OK)
            jit_object_fini(&object);
        jit_unload(code);
    }
    return NULL;
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
