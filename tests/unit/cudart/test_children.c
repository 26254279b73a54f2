/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that launch kernels, through PTX: what programs in CUDA C++
 * (tests/cuda/child_launches.cu) cannot say.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "driver_fixture.h"

#define PENDING_LAUNCHES 4 /* the limit */
#define INVALID_VALUE    1
#define INVALID_FUNCTION 98
#define PENDING_EXCEEDED 69

/* The device runtime's functions as functions of registers. */
static const char head[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".extern .func (.param .b64 r) cudaGetParameterBufferV2(.param .b64 f, "
    ".param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);\n"
    ".extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 b, .param .b64 s);\n"
    ".extern .func (.param .b64 r) cudaGetParameterBuffer(.param .b64 a, .param .b64 n);\n"
    ".extern .func (.param .b32 r) cudaLaunchDevice(.param .b64 f, .param .b64 p, "
    ".param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s, .param .b64 t);\n"
    ".extern .func (.param .b32 r) cudaGetLastError();\n"
    ".extern .func (.param .b32 r) cudaGraphLaunch(.param .b64 g, .param .b64 s);\n"
    ".func (.reg .b64 %p) get(.reg .b64 %f, .reg .b32 %threads)\n"
    "{\n .param .b64 f; .param .b64 r; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12];\n"
    " .param .b32 s; st.param.b64 [f], %f; st.param.b32 [g], 1; st.param.b32 [g+4], 1;\n"
    " st.param.b32 [g+8], 1; st.param.b32 [b], %threads; st.param.b32 [b+4], 1;\n"
    " st.param.b32 [b+8], 1; st.param.b32 [s], 0;\n"
    " call.uni (r), cudaGetParameterBufferV2, (f, g, b, s); ld.param.b64 %p, [r]; ret;\n}\n"
    ".func (.reg .b32 %e) launch(.reg .b64 %p, .reg .b64 %t)\n"
    "{\n .param .b64 p; .param .b64 t; .param .b32 r; st.param.b64 [p], %p; st.param.b64 [t], %t;\n"
    " call.uni (r), cudaLaunchDeviceV2, (p, t); ld.param.b32 %e, [r]; ret;\n}\n"
    ".func (.reg .b64 %p) get_old(.reg .b64 %bytes)\n"
    "{\n .param .b64 a; .param .b64 n; .param .b64 r; st.param.b64 [a], 8;\n"
    " st.param.b64 [n], %bytes; call.uni (r), cudaGetParameterBuffer, (a, n);\n"
    " ld.param.b64 %p, [r]; ret;\n}\n"
    ".func (.reg .b32 %e) launch_old(.reg .b64 %f, .reg .b64 %p)\n"
    "{\n .param .b64 f; .param .b64 p; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12];\n"
    " .param .b32 s; .param .b64 t; .param .b32 r; st.param.b64 [f], %f; st.param.b64 [p], %p;\n"
    " st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1; st.param.b32 [b], 1;\n"
    " st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s], 0; st.param.b64 [t], 0;\n"
    " call.uni (r), cudaLaunchDevice, (f, p, g, b, s, t); ld.param.b32 %e, [r]; ret;\n}\n"
    ".func (.reg .b32 %e) last_error()\n"
    "{\n .param .b32 r; call.uni (r), cudaGetLastError, (); ld.param.b32 %e, [r]; ret;\n}\n";

static const char kernels[] =
    ".visible .entry child(.param .u64 out, .param .u32 value)\n"
    "{\n .reg .b64 %rd; .reg .b32 %r;\n"
    " ld.param.u64 %rd, [out]; ld.param.u32 %r, [value]; red.global.add.u32 [%rd], %r; ret;\n}\n"
    ".func helper() { ret; }\n"
    ".visible .entry faulty() { .reg .b64 %rd; mov.u64 %rd, 8; st.global.u32 [%rd], 1; ret; }\n"
    ".visible .entry refused(.param .u64 out)\n"
    "{\n .reg .b64 %rd; .reg .b32 %r;\n"
    " tex.2dms.v4.u32.s32 {%r, %r, %r, %r}, [%rd, {%r, %r, %r, %r}]; ret;\n}\n"
    /* out[0] counts; out[1] is what the last of all finds there. Four threads launch one each in
     * the block's stream, two launch at once, one a tail. */
    ".visible .entry node(.param .u64 out, .param .u32 depth)\n"
    "{\n .reg .b64 %out, %f, %p, %t; .reg .b32 %d, %e, %n; .reg .pred %is_leaf, %is_late, %no;\n"
    " ld.param.u64 %out, [out]; ld.param.u32 %d, [depth]; mov.u64 %f, node; mov.u32 %n, %tid.x;\n"
    " setp.eq.u32 %is_late, %d, 100; @%is_late bra late;\n"
    " red.global.add.u32 [%out], 1;\n setp.eq.u32 %is_leaf, %d, 0; @%is_leaf bra leaf;\n"
    " setp.ge.u32 %no, %n, 4; selp.b64 %t, 4, 0, %no;\n"
    " setp.eq.u32 %no, %n, 6; selp.b64 %t, 3, %t, %no; sub.u32 %d, %d, 1;\n"
    " call (%p), get, (%f, 7); st.u64 [%p], %out; st.u32 [%p+8], %d;\n"
    " call (%e), launch, (%p, %t);\n"
    "leaf: ret;\n late: ld.global.u32 %e, [%out]; st.global.u32 [%out+4], %e; ret;\n}\n";

/* Counts, and launches the graph around it behind its end as long as there are fewer than 1000. */
static const char looping[] =
    ".visible .entry again(.param .u64 out)\n"
    "{\n .reg .b64 %out, %g; .reg .b32 %n, %e; .reg .pred %enough;\n"
    " .param .b64 g; .param .b64 s; .param .b32 r; ld.param.u64 %out, [out];\n"
    " atom.global.add.u32 %n, [%out], 1; setp.ge.u32 %enough, %n, 999; @%enough bra end;\n"
    " mov.u64 %g, %current_graph_exec; st.param.b64 [g], %g;\n"
    " st.param.b64 [s], 0x0100000000000000; call.uni (r), cudaGraphLaunch, (g, s);\n"
    " ld.param.b32 %e, [r]; red.global.add.u32 [%out+4], %e;\nend: ret;\n}\n";

/* The bodies of kernels with one parameter, out; %f is a child. */
static const struct {
    const char *name;
    const char *body;
} parents[] = {
    {"root", " mov.u64 %f, node; call (%p), get, (%f, 1); st.u64 [%p], %out; st.u32 [%p+8], 100;\n"
             " call (%e), launch, (%p, 3); call (%p), get, (%f, 1); st.u64 [%p], %out;\n"
             " st.u32 [%p+8], 4; call (%e), launch, (%p, 0);\n"},
    /* The older pair of functions: the kernel is named at the launch. */
    {"old", " call (%p), get_old, (12); st.u64 [%p], %out; st.u32 [%p+8], 5;\n"
            " call (%e), launch_old, (%f, %p); st.global.u32 [%out+4], %e;\n"},
    /* Buffers that are used twice, that are none, or of the other kind. */
    {"misused", " call (%p), get, (%f, 1); st.u64 [%p], %out; st.u32 [%p+8], 5;\n"
                " call (%e), launch, (%p, 0); call (%e1), launch, (%p, 0);\n"
                " call (%e2), launch, (%out, 0); call (%q), get_old, (12);\n"
                " call (%e3), launch, (%q, 0); call (%p), get, (%f, 1);\n"
                " call (%e4), launch_old, (%f, %p); st.global.u32 [%out+4], %e;\n"
                " st.global.u32 [%out+8], %e1; st.global.u32 [%out+12], %e2;\n"
                " st.global.u32 [%out+16], %e3; st.global.u32 [%out+20], %e4;\n"},
    /* Addresses that are no kernel's. */
    {"lost", " call (%p), get, (%out, 1); call (%e), last_error, (); mov.u64 %f, helper;\n"
             " call (%q), get, (%f, 1); call (%e1), last_error, ();\n"
             " st.global.u64 [%out], %p; st.global.u64 [%out+8], %q;\n"
             " st.global.u32 [%out+16], %e; st.global.u32 [%out+20], %e1;\n"},
    /* Asks for buffers until there are no more, and launches nothing. */
    {"greedy", " mov.u32 %i, 0;\nagain: call (%p), get, (%f, 1); call (%e), last_error, ();\n"
               " add.u32 %i, %i, 1; setp.eq.u32 %more, %e, 0; @%more bra again;\n"
               " st.global.u32 [%out], %i; st.global.u32 [%out+4], %e;\n"},
    {"launches_faults", " mov.u32 %i, 0; mov.u64 %f, faulty;\nagain: call (%p), get, (%f, 1);\n"
                        " call (%e), launch, (%p, 4); add.u32 %i, %i, 1;\n"
                        " setp.lt.u32 %more, %i, 100; @%more bra again;\n"},
    {"asks_for_refused", " mov.u64 %f, refused; call (%p), get, (%f, 1);\n"
                         " call (%e), launch, (%p, 0); st.global.u32 [%out], %e;\n"},
};

#define PTX_BYTES 16384

static size_t print_parent(char *text, size_t cap, const char *name, const char *body)
{
    int len = snprintf(text, cap,
                       ".visible .entry %s(.param .u64 out)\n{\n .reg .b64 %%out, %%f, %%p, %%q;\n"
                       " .reg .b32 %%e, %%e1, %%e2, %%e3, %%e4, %%i; .reg .pred %%more;\n"
                       " ld.param.u64 %%out, [out]; mov.u64 %%f, child;\n%s ret;\n}\n",
                       name, body);
    cr_assert_lt((size_t)len, cap);
    return (size_t)len;
}

static CUmodule module;
static CUcontext context;

static CUresult try_kernel(const char *name, unsigned *out, size_t bytes)
{
    CUfunction kernel;
    CUdeviceptr memory;
    OK(cuModuleGetFunction(&kernel, module, name));
    OK(cuMemAlloc_v2(&memory, bytes));
    OK(cuMemsetD8_v2(memory, 0, bytes));
    CUresult result = cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&memory}, NULL);
    if (result == CRT_SUCCESS)
        result = cuCtxSynchronize();
    if (result == CRT_SUCCESS)
        OK(cuMemcpyDtoH_v2(out, memory, bytes));
    if (result == CRT_SUCCESS)
        OK(cuMemFree_v2(memory));
    return result;
}

static void load(void)
{
    char ptx[PTX_BYTES];
    make_context();
    size_t len = (size_t)snprintf(ptx, sizeof ptx, "%s%s%s", head, kernels, looping);
    for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++)
        len += print_parent(ptx + len, sizeof ptx - len, parents[i].name, parents[i].body);
    OK(cuModuleLoadData(&module, ptx));
}

Test(children, the_older_functions_launch, .init = load)
{
    unsigned out[2];
    OK(try_kernel("old", out, sizeof out));
    cr_expect_eq(out[0], 5);
    cr_expect_eq(out[1], 0);
}

Test(children, a_buffer_serves_one_launch_of_its_kind, .init = load)
{
    unsigned out[6];
    OK(try_kernel("misused", out, sizeof out));
    cr_expect_eq(out[0], 5);
    cr_expect_eq(out[1], 0);
    for (int i = 2; i < 6; i++)
        cr_expect_eq(out[i], INVALID_VALUE, "at %d: %u", i, out[i]);
}

Test(children, what_is_no_kernel_gets_no_buffer, .init = load)
{
    unsigned out[6];
    OK(try_kernel("lost", out, sizeof out));
    for (int i = 0; i < 4; i++)
        cr_expect_eq(out[i], 0);
    cr_expect_eq(out[4], INVALID_FUNCTION);
    cr_expect_eq(out[5], INVALID_FUNCTION);
}

Test(children, launches_that_are_not_made_count_until_their_parent_ends, .init = load)
{
    unsigned out[2];
    OK(cuCtxSetLimit(PENDING_LAUNCHES, 10));
    for (int i = 0; i < 3; i++) {
        OK(try_kernel("greedy", out, sizeof out));
        cr_expect_eq(out[0], 11);
        cr_expect_eq(out[1], PENDING_EXCEEDED);
    }
}

Test(children, a_kernel_that_cannot_be_translated_is_an_error_of_the_launch, .init = load)
{
    unsigned out[1];
    OK(try_kernel("asks_for_refused", out, sizeof out));
    cr_expect_neq(out[0], 0);
    OK(try_kernel("asks_for_refused", out, sizeof out));
    cr_expect_neq(out[0], 0);
}

Test(children, what_comes_last_comes_behind_a_tree, .init = load)
{
    /* The first node has one thread, all others seven. */
    unsigned wanted = 1 + 7 * (1 + 7 + 49 + 343);
    unsigned out[2];
    for (int i = 0; i < 3; i++) {
        OK(try_kernel("root", out, sizeof out));
        cr_expect_eq(out[0], wanted, "%u, not %u", out[0], wanted);
        cr_expect_eq(out[1], wanted, "%u, not %u", out[1], wanted);
    }
}

/* How many lines of a file have the text. */
static unsigned count_lines(FILE *file, const char *text)
{
    char line[1024];
    unsigned count = 0;
    rewind(file);
    while (fgets(line, sizeof line, file))
        count += strstr(line, text) != NULL;
    return count;
}

Test(children, faults_of_many_at_a_time_are_told_once, .init = load)
{
    unsigned out[1];
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    CUresult result = try_kernel("launches_faults", out, sizeof out);
    dup2(before, STDERR_FILENO);
    cr_expect_eq(result, CRT_ILLEGAL_ADDRESS);
    cr_expect_eq(count_lines(file, "invalid memory access in kernel 'faulty'"), 1);
    fclose(file);
}

static void *use_context(void *arg)
{
    (void)arg;
    unsigned out[2];
    OK(cuCtxSetCurrent(context));
    for (int i = 0; i < 3; i++)
        OK(try_kernel("root", out, sizeof out));
    return NULL;
}

Test(children, threads_of_the_host_launch_trees_side_by_side, .init = load)
{
    pthread_t threads[3];
    OK(cuCtxGetCurrent(&context));
    for (int i = 0; i < 3; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, use_context, NULL), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

#define FOR_DEVICE_LAUNCH 4

/* Of two kernels, one behind the other. */
static CUgraphExec create_loop(CUdeviceptr *out)
{
    CUfunction kernel;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    OK(cuModuleGetFunction(&kernel, module, "again"));
    CUDA_KERNEL_NODE_PARAMS params = {.func = kernel,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = (void *[]){out}};
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = *out + 8, .elementSize = 4, .width = 1, .height = 1, .value = 7};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &params));
    OK(cuGraphAddMemsetNode(&node, graph, &node, 1, &fill, context));
    OK(cuGraphInstantiateWithFlags(&exec, graph, FOR_DEVICE_LAUNCH));
    OK(cuGraphDestroy(graph));
    return exec;
}

Test(children, a_graph_launches_itself, .init = load)
{
    unsigned out[3];
    CUdeviceptr memory;
    OK(cuCtxGetCurrent(&context));
    OK(cuMemAlloc_v2(&memory, sizeof out));
    CUgraphExec exec = create_loop(&memory);
    for (int i = 0; i < 3; i++) {
        OK(cuMemsetD8_v2(memory, 0, sizeof out));
        OK(cuGraphLaunch(exec, NULL));
        OK(cuMemcpyDtoH_v2(out, memory, sizeof out));
        cr_expect_eq(out[0], 1000);
        cr_expect_eq(out[1], 0);
        cr_expect_eq(out[2], 7);
    }
    OK(cuGraphExecDestroy(exec));
}
