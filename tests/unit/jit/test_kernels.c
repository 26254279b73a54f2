/* SPDX-License-Identifier: Apache-2.0
 *
 * From PTX text to running code, through the compile library as libptxrun.so opens it.
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

static struct jit_object compile(const char *ptx, const char *name)
{
    struct kernel kernel;
    open_kernel(&kernel, ptx, name);
    struct jit_object object;
    struct pxr_error err = {0};
    cr_assert_eq(jit_compile(&kernel.request, &object, &err), PXR_OK, "%s", err.message);
    close_kernel(&kernel);
    return object;
}

static struct jit_code *load(const struct jit_object *object)
{
    struct jit_code *code;
    struct pxr_error err = {0};
    cr_assert_eq(jit_load(object, &(struct jit_loading){.kernel = "square"}, &code, &err), PXR_OK,
                 "%s", err.message);
    return code;
}

Test(kernels, ptx_becomes_running_code)
{
    struct jit_object object = compile(square_ptx, "square");
    struct jit_code *code = load(&object);
    jit_object_fini(&object); // the code does not need it
    float data[4] = {1, 2, 3, 4};
    for (uint32_t tid = 0; tid < 4; tid++)
        run_square(code, data, tid);
    cr_expect_eq(data[0], 2);
    cr_expect_eq(data[1], 6);
    cr_expect_eq(data[2], 12);
    cr_expect_eq(data[3], 20);
    jit_unload(code);
}

static const char shape_ptx[] = HEAD ".visible .entry shape(.param .u64 p)\n"
                                     "{\n"
                                     "    .reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
                                     "    ld.param.u64 %rd1, [p];\n"
                                     "    mov.u32 %r1, %ntid.x;\n"
                                     "    st.global.u32 [%rd1], %r1;\n"
                                     "    ret;\n"
                                     "}\n"
                                     ".visible .entry required(.param .u64 p) .reqntid 8\n"
                                     "{\n"
                                     "    .reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
                                     "    ld.param.u64 %rd1, [p];\n"
                                     "    mov.u32 %r1, %ntid.x;\n"
                                     "    st.global.u32 [%rd1], %r1;\n"
                                     "    ret;\n"
                                     "}\n";

/* What %ntid.x reads as in a block of 4 threads, in code made for blocks of shape[0]. */
static uint32_t threads_seen(const char *name, uint32_t shape)
{
    struct kernel kernel;
    open_kernel(&kernel, shape_ptx, name);
    if (shape != 0)
        kernel.request.variant =
            (struct jit_variant){.collapse = PXR_COLLAPSE_PRECISE, .facts.block = {shape, 1, 1}};
    struct jit_object object;
    struct pxr_error err = {0};
    cr_assert_eq(jit_compile(&kernel.request, &object, &err), PXR_OK, "%s", err.message);
    struct jit_code *code = load(&object);
    float seen[1] = {0};
    run_square(code, seen, 0);
    jit_unload(code);
    jit_object_fini(&object);
    close_kernel(&kernel);
    uint32_t bits;
    memcpy(&bits, seen, sizeof bits);
    return bits;
}

Test(kernels, block_shape_is_a_constant_where_the_launch_promises_it)
{
    cr_expect_eq(threads_seen("shape", 0), 4);
    cr_expect_eq(threads_seen("shape", 64), 64);
    cr_expect_eq(threads_seen("required", 0), 8, ".reqntid promises it for all launches");
}

Test(kernels, pc_in_a_kernel_has_its_ptx_line)
{
    struct jit_object object = compile(square_ptx, "square");
    struct jit_code *code = load(&object);
    float data[1] = {1};
    run_square(code, data, 0);
    cr_expect_eq(rt_stub.bar_sync_calls, 1);
    cr_expect_eq(jit_code_line(code, rt_stub.return_address - 1), SQUARE_BARRIER_LINE);
    jit_unload(code);
    jit_object_fini(&object);
}

Test(kernels, code_does_not_depend_on_where_anything_lies)
{
    struct jit_object first = compile(square_ptx, "square");
    void *disturb = malloc(100000);
    struct jit_object second = compile(square_ptx, "square");
    free(disturb);
    cr_assert_eq(first.size_bytes, second.size_bytes);
    cr_expect_eq(memcmp(first.bytes, second.bytes, first.size_bytes), 0);
    struct jit_code *code = load(&first);
    struct jit_code *other = load(&first);
    cr_expect_neq(jit_code_entry(code), jit_code_entry(other));
    float data[1] = {5};
    run_square(other, data, 0);
    cr_expect_eq(data[0], 30);
    jit_unload(code);
    jit_unload(other);
    jit_object_fini(&first);
    jit_object_fini(&second);
}

Test(kernels, ptx_functions_named_like_library_functions_are_their_own)
{
    struct jit_object object = compile(HEAD ".func (.param .b32 r) memcpy(.param .b32 a)\n"
                                            "{\n"
                                            "    .reg .b32 %r<3>;\n"
                                            "    ld.param.b32 %r1, [a];\n"
                                            "    mul.lo.s32 %r2, %r1, 7;\n"
                                            "    st.param.b32 [r], %r2;\n"
                                            "    ret;\n"
                                            "}\n"
                                            ".visible .entry k(.param .u64 p)\n"
                                            "{\n"
                                            "    .reg .b64 %rd<3>; .reg .b32 %r<3>;\n"
                                            "    .param .b32 x; .param .b32 y;\n"
                                            "    ld.param.u64 %rd1, [p];\n"
                                            "    ld.global.u32 %r1, [%rd1];\n"
                                            "    st.param.b32 [x], %r1;\n"
                                            "    call (y), memcpy, (x);\n"
                                            "    ld.param.b32 %r2, [y];\n"
                                            "    st.global.u32 [%rd1], %r2;\n"
                                            "    ret;\n"
                                            "}\n",
                                       "k");
    struct jit_code *code = load(&object);
    float data[1];
    uint32_t six = 6;
    memcpy(data, &six, 4);
    run_square(code, data, 0);
    memcpy(&six, data, 4);
    cr_expect_eq(six, 42);
    jit_unload(code);
    jit_object_fini(&object);
}

Test(kernels, what_is_not_supported_is_named_with_kernel_and_lines)
{
    struct kernel kernel;
    open_kernel(&kernel,
                HEAD ".visible .entry textured(.param .u64 p)\n"
                     "{\n"
                     "    .reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .f32 %f<9>;\n"
                     "    ld.param.u64 %rd1, [p];\n"
                     "    .loc 1 31 0\n"
                     "    tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r1, %r1, %r1}];\n"
                     "    ret;\n"
                     "}\n"
                     ".file 1 \"src/textured.cu\"\n",
                "textured");
    struct jit_object object;
    struct pxr_error err = {0};
    cr_expect_eq(jit_compile(&kernel.request, &object, &err), PXR_UNSUPPORTED);
    cr_expect_eq(err.line, 9);
    cr_expect_not_null(strstr(err.message, "'textured'"), "%s", err.message);
    cr_expect_not_null(strstr(err.message, "line 9, src/textured.cu:31)"), "%s", err.message);
    cr_expect_not_null(strstr(err.message, "tex.2dms"), "%s", err.message);
    cr_expect_null(object.bytes);
    close_kernel(&kernel);
}

/* The second barrier orders nothing. */
static const char barriers_ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry barriers()\n"
    "{\n .reg .b32 %r<9>; .shared .b32 words[64];\n"
    " mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, words; add.u32 %r4, %r3, %r2;\n"
    " st.shared.u32 [%r4], %r1; bar.sync 0; bar.sync 0; ld.shared.u32 %r5, [words];\n"
    " st.shared.u32 [%r4], %r5; ret;\n}\n";

Test(kernels, every_kind_of_dump_is_a_file)
{
    char dir[] = "/tmp/ptxrun-test-XXXXXX";
    cr_assert_not_null(mkdtemp(dir));
    cr_assert_eq(rmdir(dir), 0); // dumping makes it
    struct kernel kernel;
    open_kernel(&kernel, barriers_ptx, "barriers");
    kernel.request.variant.collapse = PXR_COLLAPSE_AUTO;
    kernel.request.dump = "ptx,ir,barriers,collapse,opt,asm";
    kernel.request.dump_dir = dir;
    struct jit_object object;
    cr_assert_eq(jit_compile(&kernel.request, &object, NULL), PXR_OK);
    static const char *const suffixes[] = {
        "ptx", "ll", "barriers-before.ll", "barriers.ll", "collapse.ll", "opt.ll", "s"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/barriers.%s", dir, suffixes[i]);
        cr_expect_eq(unlink(path), 0, "%s is missing", path);
    }
    cr_expect_eq(rmdir(dir), 0);
    jit_object_fini(&object);
    close_kernel(&kernel);
}

Test(kernels, loops_over_vectors_are_asked_for_and_told)
{
    static const struct jit_variant wanted[] = {
        {.collapse = PXR_COLLAPSE_VECTOR, .facts.block = {64, 1, 1}},
        {.collapse = PXR_COLLAPSE_VECTOR, .width = 4, .jam = 2, .facts.block = {64, 1, 1}},
        {.collapse = PXR_COLLAPSE_FLAT, .width = 4, .jam = 2, .facts.block = {64, 1, 1}},
        {.collapse = PXR_COLLAPSE_PRECISE, .width = 4, .jam = 2, .facts.block = {64, 1, 1}}};
    struct kernel kernel;
    open_kernel(&kernel, square_ptx, "square");
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct jit_object object;
        kernel.request.variant = wanted[i];
        cr_assert_eq(jit_compile(&kernel.request, &object, NULL), PXR_OK);
        bool is_vector = object.collapse == PXR_COLLAPSE_VECTOR;
        cr_expect_eq(object.width != 0, is_vector, "%zu", i);
        cr_expect_eq(object.jam != 0, is_vector, "%zu", i);
        if (is_vector && wanted[i].width)
            cr_expect_eq(object.width, wanted[i].width, "%zu", i);
        if (wanted[i].collapse != PXR_COLLAPSE_VECTOR)
            cr_expect_eq(object.collapse, wanted[i].collapse, "%zu", i);
        struct jit_code *code = load(&object);
        bool is_fused = wanted[i].collapse != PXR_COLLAPSE_PRECISE;
        cr_expect_eq(jit_code_fused(code) != NULL, is_fused, "%zu", i);
        cr_expect_eq(jit_code_entry(code) == NULL, is_fused, "%zu", i);
        jit_unload(code);
        jit_object_fini(&object);
    }
    close_kernel(&kernel);
}

static void *compile_and_run(void *argument)
{
    for (int i = 0; i < 4; i++) {
        struct jit_object object = compile(square_ptx, "square");
        struct jit_code *code = load(&object);
        float data[1] = {3};
        run_square(code, data, 0);
        cr_assert_eq(data[0], 12);
        jit_unload(code);
        jit_object_fini(&object);
    }
    return argument;
}

/* One kernel has a loop that only other threads can end, one does so eight times, the third ends by
 * itself. */
static const char waiting_ptx[] = HEAD ".visible .entry polls(.param .u64 p)\n"
                                       "{\n"
                                       "    .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p;\n"
                                       "    ld.param.u64 %rd1, [p];\n"
                                       "AGAIN:\n"
                                       "    ld.volatile.global.u32 %r1, [%rd1];\n"
                                       "    setp.eq.u32 %p, %r1, 0;\n"
                                       "    @%p bra AGAIN;\n"
                                       "    ret;\n"
                                       "}\n"
                                       ".visible .entry polls_again(.param .u64 p)\n"
                                       "{\n"
                                       "    .reg .b64 %rd<2>; .reg .b32 %r<3>; .reg .pred %p;\n"
                                       "    ld.param.u64 %rd1, [p];\n"
                                       "    mov.u32 %r2, 0;\n"
                                       "NEXT:\n"
                                       "    add.u32 %r2, %r2, 1;\n"
                                       "AGAIN:\n"
                                       "    ld.volatile.global.u32 %r1, [%rd1];\n"
                                       "    setp.lt.u32 %p, %r1, %r2;\n"
                                       "    @%p bra AGAIN;\n"
                                       "    bar.sync 0;\n"
                                       "    setp.lt.u32 %p, %r2, 8;\n"
                                       "    @%p bra NEXT;\n"
                                       "    ret;\n"
                                       "}\n"
                                       ".visible .entry counts(.param .u64 p)\n"
                                       "{\n"
                                       "    .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p;\n"
                                       "    ld.param.u64 %rd1, [p];\n"
                                       "    mov.u32 %r1, %tid.x;\n"
                                       "AGAIN:\n"
                                       "    bar.sync 0;\n"
                                       "    add.u32 %r1, %r1, 1;\n"
                                       "    st.volatile.global.u32 [%rd1], %r1;\n"
                                       "    setp.lt.u32 %p, %r1, 100;\n"
                                       "    @%p bra AGAIN;\n"
                                       "    ret;\n"
                                       "}\n";

static void compile_waiting(const char *name, enum pxr_collapse collapse, bool *may_wait,
                            bool *waits_again)
{
    struct kernel kernel;
    open_kernel(&kernel, waiting_ptx, name);
    kernel.request.variant = (struct jit_variant){.collapse = collapse};
    struct jit_object object;
    struct pxr_error err = {0};
    cr_assert_eq(jit_compile(&kernel.request, &object, &err), PXR_OK, "%s", err.message);
    *may_wait = object.may_wait;
    *waits_again = object.waits_again;
    jit_object_fini(&object);
    close_kernel(&kernel);
}

Test(kernels, a_kernel_that_may_wait_for_others_says_so_in_every_collapse)
{
    static const struct {
        const char *name;
        bool may_wait;
        bool waits_again;
    } wanted[] = {{"polls", true, false}, {"polls_again", true, true}, {"counts", false, false}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        for (unsigned k = 0; k < PXR_COLLAPSE_COUNT; k++) {
            enum pxr_collapse collapse = (enum pxr_collapse)k;
            bool may_wait, waits_again;
            compile_waiting(wanted[i].name, collapse, &may_wait, &waits_again);
            cr_expect_eq(may_wait, wanted[i].may_wait, "%s, %s", wanted[i].name,
                         pxr_collapse_name(collapse));
            cr_expect_eq(waits_again, wanted[i].waits_again, "%s, %s", wanted[i].name,
                         pxr_collapse_name(collapse));
        }
    }
}

Test(kernels, threads_compile_and_run_at_once)
{
    pthread_t threads[6];
    for (int i = 0; i < 6; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, compile_and_run, NULL), 0);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
}

static void *compile_for_ever(void *argument)
{
    struct kernel kernel;
    open_kernel(&kernel, square_ptx, "square");
    for (;;) {
        struct jit_object object;
        if (jit_compile(&kernel.request, &object, NULL) != PXR_OK)
            break;
        jit_object_fini(&object);
    }
    close_kernel(&kernel);
    return argument;
}

/* Ends a process while threads of it compile. */
static void end_while_compiling(long delay_ns)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, compile_for_ever, NULL) != 0)
            _exit(2);
    nanosleep(&(struct timespec){.tv_nsec = delay_ns}, NULL);
    exit(0);
}

Test(kernels, process_ends_cleanly_while_threads_compile, .timeout = 60)
{
    for (long i = 0; i < 20; i++) {
        pid_t child = fork();
        cr_assert_geq(child, 0);
        if (child == 0)
            end_while_compiling(1000000 + i * 2300000);
        int status = -1;
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "round %ld: status %#x", i,
                  status);
    }
}
