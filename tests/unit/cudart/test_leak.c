/* SPDX-License-Identifier: Apache-2.0
 *
 * --leak-check: what is listed, and what is not.
 */
#include <stdlib.h>

#include "cudart/core/base/leak.h"
#include "cudart/core/streams/event.h"
#include "cudart/core/streams/stream.h"
#include "driver_fixture.h"
#include "peer_process.h"

static void check_leaks(void)
{
    setenv("PTXRUN_LEAK_CHECK", "1", 1);
    make_context();
    /* The report at the end of the test's own process. */
    cr_assert_not_null(freopen("/dev/null", "w", stderr));
}

/* The report as text; *count: of things listed. */
static const char *report(size_t *count)
{
    static char text[20000];
    FILE *file = fmemopen(text, sizeof text, "w");
    *count = crt_leak_report(file);
    fclose(file);
    return text;
}

static void expect_listed(const char *line)
{
    size_t count;
    const char *text = report(&count);
    cr_expect_eq(count, 1);
    cr_expect(strstr(text, line), "no '%s' in:\n%s", line, text);
}

Test(leak, nothing_is_listed_when_all_was_given_back, .init = check_leaks)
{
    CUdeviceptr pointer;
    CUstream stream;
    CUevent event;
    void *host;
    size_t count;
    OK(cuMemAlloc_v2(&pointer, 1000));
    OK(cuMemAllocHost_v2(&host, 1000));
    OK(cuStreamCreate(&stream, 0));
    OK(cuEventCreate(&event, 0));
    OK(cuMemFree_v2(pointer));
    OK(cuMemFreeHost(host));
    OK(cuStreamDestroy_v2(stream));
    OK(cuEventDestroy_v2(event));
    const char *text = report(&count);
    cr_expect_eq(count, 0);
    cr_expect(strstr(text, "========= LEAK SUMMARY: 0 bytes leaked in 0 allocations\n"), "%s",
              text);
}

Test(leak, memory_is_listed_with_its_size_and_its_sum, .init = check_leaks)
{
    CUdeviceptr pointers[2];
    char line[128];
    size_t count;
    OK(cuMemAlloc_v2(&pointers[0], 1024));
    OK(cuMemAlloc_v2(&pointers[1], 1234567));
    const char *text = report(&count);
    cr_expect_eq(count, 2);
    snprintf(line, sizeof line, "========= Leaked 1,234,567 bytes at 0x%llx (device memory)\n",
             (unsigned long long)pointers[1]);
    cr_expect(strstr(text, line), "%s", text);
    cr_expect(strstr(text, "LEAK SUMMARY: 1,235,591 bytes leaked in 2 allocations\n"), "%s", text);
    cr_expect(strstr(text, "=========     Host Frame: "), "%s", text);
}

Test(leak, managed_memory_is_listed, .init = check_leaks)
{
    CUdeviceptr pointer;
    OK(cuMemAllocManaged(&pointer, 4096, 1));
    expect_listed("(managed memory)");
}

Test(leak, host_memory_is_listed, .init = check_leaks)
{
    void *pointer;
    OK(cuMemHostAlloc(&pointer, 4096, 0));
    expect_listed("(page-locked host memory)");
    OK(cuMemFreeHost(pointer));
    static char own[4096];
    OK(cuMemHostRegister_v2(own, sizeof own, 0));
    expect_listed("(registered host memory)");
}

Test(leak, pool_memory_is_listed_while_it_is_allocated, .init = check_leaks)
{
    CUdeviceptr pointer;
    size_t count;
    OK(cuMemAllocAsync(&pointer, 4096, NULL));
    expect_listed("Leaked 4,096 bytes");
    OK(cuMemFreeAsync(pointer, NULL));
    OK(cuCtxSynchronize());
    report(&count);
    cr_expect_eq(count, 0);
}

Test(leak, physical_memory_is_listed_until_its_last_handle_and_mapping, .init = check_leaks)
{
    CUmemAllocationProp prop = {.type = 1, .location = {.type = 1}};
    CUmemGenericAllocationHandle handle;
    size_t count;
    OK(cuMemCreate(&handle, (size_t)2 << 20, &prop, 0));
    expect_listed("Leaked 2,097,152 bytes");
    OK(cuMemRelease(handle));
    report(&count);
    cr_expect_eq(count, 0);
}

Test(leak, streams_and_events_are_listed, .init = check_leaks)
{
    CUstream stream;
    CUevent event;
    OK(cuStreamCreate(&stream, CRT_STREAM_NON_BLOCKING));
    expect_listed("========= Leaked stream at 0x");
    OK(cuStreamDestroy_v2(stream));
    OK(cuEventCreate(&event, CRT_EVENT_DISABLE_TIMING));
    expect_listed("========= Leaked event at 0x");
}

Test(leak, graphs_are_listed_once, .init = check_leaks)
{
    CUgraph graph;
    CUgraphExec exec;
    size_t count;
    OK(cuGraphCreate(&graph, 0));
    expect_listed("========= Leaked graph at 0x");
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    expect_listed("========= Leaked executable graph at 0x");
    OK(cuGraphExecDestroy(exec));
    report(&count);
    cr_expect_eq(count, 0);
}

Test(leak, modules_and_contexts_are_listed, .init = check_leaks)
{
    CUmodule module;
    CUcontext ctx;
    OK(cuModuleLoadData(&module, ".version 9.0\n.target sm_75\n.address_size 64\n"
                                 ".visible .global .u32 v;\n.visible .entry k() { ret; }\n"));
    expect_listed("========= Leaked module at 0x");
    OK(cuModuleUnload(module));
    OK(cuCtxCreate_v2(&ctx, 0, 0));
    expect_listed("========= Leaked context at 0x");
}

Test(leak, streams_of_threads_are_nobodys, .init = check_leaks)
{
    size_t count;
    OK(cuStreamSynchronize(CRT_STREAM_PER_THREAD));
    report(&count);
    cr_expect_eq(count, 0);
}

Test(leak, a_reset_gives_everything_back, .init = check_leaks)
{
    CUdeviceptr pointer;
    CUstream stream;
    size_t count;
    OK(cuMemAlloc_v2(&pointer, 1000));
    OK(cuStreamCreate(&stream, 0));
    OK(cuDevicePrimaryCtxReset_v2(0));
    report(&count);
    cr_expect_eq(count, 0);
}

/* Standard error of a process that ends so. */
static void output_at_exit(bool is_on, char *text, size_t cap)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        CUdeviceptr pointer;
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        setenv("PTXRUN_LEAK_CHECK", is_on ? "1" : "0", 1);
        make_context();
        OK(cuMemAlloc_v2(&pointer, 1000));
        exit(7);
    }
    close(ends[1]);
    size_t len = 0;
    ssize_t more;
    while (len < cap - 1 && (more = read(ends[0], text + len, cap - 1 - len)) > 0)
        len += (size_t)more;
    text[len] = '\0';
    int status;
    waitpid(pid, &status, 0);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

Test(leak, the_report_comes_at_exit_and_leaves_the_exit_status)
{
    char text[20000];
    output_at_exit(true, text, sizeof text);
    cr_expect(strstr(text, "LEAK SUMMARY: 1,000 bytes leaked in 1 allocations"), "%s", text);
}

Test(leak, without_the_option_nothing_is_said)
{
    char text[20000];
    output_at_exit(false, text, sizeof text);
    cr_expect(!strstr(text, "Leaked"), "%s", text);
    cr_expect(!strstr(text, "LEAK SUMMARY"), "%s", text);
}
