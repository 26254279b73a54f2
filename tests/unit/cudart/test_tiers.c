/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that go from quick code to the best while they run, and all that may happen to them
 * meanwhile. --tier-patience=0: the first blocks that end have earned the best code.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cudart/core/base/memory_limit.h"
#include "cudart/core/code/background.h"
#include "cudart/core/code/module.h"
#include "driver_fixture.h"
#include "tests/support/big_kernels.h"

#define HEAD ".version 9.0\n.target sm_75\n.address_size 64\n"

/* out[i] = so many rounds of a generator that begins with i. */
#define INDEX                                                                                      \
    " ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [rounds];\n"                                     \
    " mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;\n"                         \
    " mad.lo.s32 %r5, %r3, %r4, %r2; mov.u32 %r6, %r5;\n"
#define ROUNDS                                                                                     \
    "L: mad.lo.u32 %r6, %r6, 1664525, 1013904223; sub.u32 %r1, %r1, 1;\n"                          \
    " setp.ne.u32 %p1, %r1, 0; @%p1 bra L;\n"
#define STORE                                                                                      \
    " mul.wide.u32 %rd2, %r5, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r6; ret;\n}\n"
#define REGISTERS "{\n .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"

#define WORK(name)                                                                                 \
    HEAD ".visible .entry " name                                                                   \
         "(.param .u64 out, .param .u32 rounds)\n" REGISTERS INDEX ROUNDS STORE

static const char work_ptx[] = WORK("work");

/* Blocks of the upper half wait until the word behind the array is not 0. */
static const char wait_ptx[] =
    HEAD ".visible .entry work(.param .u64 out, .param .u32 rounds, .param .u64 flag)\n" REGISTERS
         " ld.param.u64 %rd5, [flag]; mov.u32 %r7, %nctaid.x; shr.u32 %r7, %r7, 1;\n" INDEX ROUNDS
         " setp.lt.u32 %p1, %r3, %r7; @%p1 bra D;\n"
         "W: ld.volatile.global.u32 %r8, [%rd5]; setp.eq.u32 %p1, %r8, 0; @%p1 bra W;\n"
         "D:\n" STORE;

#define ELEMENTS (64 * 1024)
#define THREADS  64
#define BLOCKS   (ELEMENTS / THREADS)

static unsigned expected(unsigned i, unsigned rounds)
{
    unsigned x = i;
    for (; rounds > 0; rounds--)
        x = x * 1664525 + 1013904223;
    return x;
}

static struct crt_kernel *kernel_of(CUfunction function)
{
    return (struct crt_kernel *)function;
}

static unsigned best_count(CUfunction function)
{
    return atomic_load(&kernel_of(function)->variants.count);
}

static bool has_quick(CUfunction function)
{
    return atomic_load(&kernel_of(function)->quick) != NULL;
}

/* Whether blocks have run in the best code, and were timed. */
static bool has_run_best(CUfunction function)
{
    if (best_count(function) == 0)
        return false;
    const struct crt_variant *best = kernel_of(function)->variants.entries[0].variant;
    return atomic_load(jit_code_pace(best->code)) != 0;
}

static void choose(const char *patience, const char *compile_threads)
{
    setenv("PTXRUN_TIER", "auto", 1);
    setenv("PTXRUN_TIER_PATIENCE", patience, 1);
    setenv("PTXRUN_COMPILE_THREADS", compile_threads, 1);
    setenv("PTXRUN_THREADS", "3", 1);
    make_context();
}

static CUmodule load(const char *text, const char *name, CUfunction *function)
{
    CUmodule module;
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(function, module, name));
    return module;
}

static CUdeviceptr allocate(void)
{
    CUdeviceptr out;
    OK(cuMemAlloc_v2(&out, ELEMENTS * sizeof(unsigned)));
    return out;
}

static void launch(CUfunction function, CUdeviceptr out, unsigned blocks, unsigned rounds,
                   CUstream stream)
{
    void *params[] = {&out, &rounds};
    OK(cuLaunchKernel(function, blocks, 1, 1, THREADS, 1, 1, 0, stream, params, NULL));
}

static bool is_right(CUdeviceptr out, unsigned blocks, unsigned rounds)
{
    unsigned *got = malloc(ELEMENTS * sizeof *got);
    bool is_right = cuMemcpyDtoH_v2(got, out, ELEMENTS * sizeof *got) == CRT_SUCCESS;
    for (unsigned i = 0; i < blocks * THREADS && is_right; i++)
        is_right = got[i] == expected(i, rounds);
    free(got);
    return is_right;
}

/* ---- taking over ---- */

Test(tiers, a_grid_that_runs_goes_on_in_the_best_code)
{
    choose("0", "1");
    CUdeviceptr out = allocate();
    bool has_switched = false;
    /* A machine that is busy may take longer to compile than the grid to run. */
    for (unsigned rounds = 20000; rounds <= 320000 && !has_switched; rounds *= 4) {
        CUfunction function;
        load(work_ptx, "work", &function);
        launch(function, out, BLOCKS, rounds, NULL);
        OK(cuCtxSynchronize());
        cr_expect(has_quick(function));
        has_switched = has_run_best(function);
        cr_expect(is_right(out, BLOCKS, rounds));
    }
    cr_expect(has_switched);
}

Test(tiers, blocks_that_wait_end_in_the_code_that_they_began_with)
{
    choose("0", "1");
    CUdeviceptr out = allocate();
    CUfunction function;
    unsigned *flag;
    unsigned rounds = 10;
    OK(cuMemAllocManaged((CUdeviceptr *)&flag, sizeof *flag, 1));
    load(wait_ptx, "work", &function);
    void *params[] = {&out, &rounds, &flag};
    OK(cuLaunchKernel(function, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    while (best_count(function) == 0)
        usleep(1000);
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    OK(cuCtxSynchronize());
    cr_expect(is_right(out, BLOCKS, rounds));
}

Test(tiers, a_graph_takes_the_best_code_when_it_is_there)
{
    choose("0", "1");
    CUdeviceptr out = allocate();
    CUfunction function;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    load(work_ptx, "work", &function);
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamBeginCapture_v2(stream, 0));
    launch(function, out, 16, 10, stream);
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    crt_background_wait();
    cr_assert_eq(best_count(function), 1);
    for (int i = 0; i < 3; i++)
        OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    cr_expect(has_run_best(function));
    cr_expect(is_right(out, 16, 10));
}

Test(tiers, patience_is_waited_for)
{
    choose("4000000000", "1");
    CUdeviceptr out = allocate();
    CUfunction function;
    load(work_ptx, "work", &function);
    for (int i = 0; i < 20; i++)
        launch(function, out, BLOCKS, 100, NULL);
    OK(cuCtxSynchronize());
    crt_background_wait();
    cr_expect_eq(best_count(function), 0);
    cr_expect(is_right(out, BLOCKS, 100));
}

/* ---- nothing in the background ---- */

static bool is_compiler(const char *task)
{
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task);
    FILE *file = fopen(path, "r");
    bool is_compiler =
        file && fgets(name, sizeof name, file) && strncmp(name, "ptxrun-compile", 14) == 0;
    if (file)
        fclose(file);
    return is_compiler;
}

static bool has_compiler_thread(void)
{
    DIR *tasks = opendir("/proc/self/task");
    bool has = false;
    for (struct dirent *task; tasks && (task = readdir(tasks));)
        has = has || is_compiler(task->d_name);
    if (tasks)
        closedir(tasks);
    return has;
}

Test(tiers, without_threads_the_next_launch_makes_the_best_code)
{
    choose("0", "0");
    CUdeviceptr out = allocate();
    for (int i = 0; i < 3; i++) {
        CUfunction function;
        load(work_ptx, "work", &function);
        launch(function, out, BLOCKS, 100, NULL);
        cr_expect_eq(best_count(function), 0);
        OK(cuCtxSynchronize());
        cr_expect_not(has_run_best(function));
        cr_expect_not(has_compiler_thread());
        launch(function, out, BLOCKS, 100, NULL);
        cr_expect_eq(best_count(function), 1);
        OK(cuCtxSynchronize());
        cr_expect(has_run_best(function));
        cr_expect(is_right(out, BLOCKS, 100));
    }
}

/* ---- what happens while it is compiled ---- */

/* A kernel whose best code takes a good while, and a launch of it that has earned that. */
static CUmodule launch_big(CUfunction *function, CUdeviceptr out)
{
    char *text = big_kernel_text(big_family_find("arithmetic"), 3000);
    CUmodule module = load(text, "big", function);
    free(text);
    void *params[] = {&out};
    OK(cuLaunchKernel(*function, 8, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
    return module;
}

static CUdeviceptr allocate_big(void)
{
    CUdeviceptr out;
    OK(cuMemAlloc_v2(&out, BIG_WORDS * sizeof(unsigned)));
    OK(cuMemsetD32_v2(out, 3, BIG_WORDS));
    return out;
}

/* As if its quick code had run for so long, and it had been asked for. */
static void ask_for_best(CUfunction function, uint64_t ran_ns)
{
    static const struct tr_facts nothing = {0};
    struct crt_rent *rent = &kernel_of(function)->rent;
    atomic_store(&rent->ran_ns, ran_ns);
    atomic_store(&rent->is_settled, true);
    crt_background_make(kernel_of(function), &nothing);
}

/* Where the log speaks first of a kernel's code; SIZE_MAX: nowhere. */
static size_t place_in_log(FILE *log, const char *name)
{
    char line[512], wanted[64];
    snprintf(wanted, sizeof wanted, "compiled kernel '%s'", name);
    rewind(log);
    for (size_t place = 0; fgets(line, sizeof line, log); place++) {
        if (strstr(line, wanted))
            return place;
    }
    return SIZE_MAX;
}

/* Two that wait for a thread which is busy for long. Returns whether both were asked for before it
 * was free: a busy machine may let this thread sleep meanwhile. The log is written in the order in
 * which code was made. */
static bool urgent_goes_first(CUdeviceptr out, CUdeviceptr big_out)
{
    CUfunction big, first, urgent;
    launch_big(&big, big_out);
    load(WORK("first"), "first", &first);
    load(WORK("urgent"), "urgent", &urgent);
    launch(first, out, 1, 10, NULL);
    launch(urgent, out, 1, 10, NULL);
    OK(cuCtxSynchronize());
    crt_background_wait();
    FILE *log = tmpfile();
    cr_assert(log && dup2(fileno(log), STDERR_FILENO) >= 0);
    ask_for_best(big, 1);
    ask_for_best(first, 1000000);
    ask_for_best(urgent, 1000000000); /* by more than a launch that is counted late can add */
    bool was_busy = best_count(big) == 0;
    crt_background_wait();
    cr_expect_eq(best_count(first), 1);
    cr_expect_eq(best_count(urgent), 1);
    if (was_busy)
        cr_expect_lt(place_in_log(log, "urgent"), place_in_log(log, "first"));
    fclose(log);
    return was_busy;
}

Test(tiers, the_kernel_that_loses_most_by_waiting_is_compiled_first)
{
    setenv("PTXRUN_LOG", "info", 1);
    choose("4000000000", "1");
    CUdeviceptr out = allocate(), big_out = allocate_big();
    bool was_asked = false;
    for (int i = 0; i < 5 && !was_asked; i++)
        was_asked = urgent_goes_first(out, big_out);
    cr_expect(was_asked);
}

Test(tiers, a_module_is_unloaded_while_a_kernel_of_it_is_compiled)
{
    choose("0", "1");
    CUdeviceptr out = allocate_big();
    unsigned unfinished = 0;
    for (int i = 0; i < 5; i++) {
        CUfunction function;
        CUmodule module = launch_big(&function, out);
        unfinished += best_count(function) == 0;
        OK(cuModuleUnload(module));
        EXPECT(CRT_INVALID_HANDLE, cuModuleUnload(module));
        cr_expect_not(crt_kernel_is_valid(kernel_of(function)));
    }
    /* A machine that is busy may let this thread wait until one is finished. */
    cr_expect_gt(unfinished, 0);
    crt_background_wait();
    /* Its memory may be used again. */
    CUfunction function;
    launch_big(&function, out);
    crt_background_wait();
    cr_expect_eq(best_count(function), 1);
}

Test(tiers, a_context_is_reset_while_its_kernels_are_compiled)
{
    choose("0", "2");
    for (int i = 0; i < 3; i++) {
        CUfunction function;
        launch_big(&function, allocate_big());
        OK(cuDevicePrimaryCtxReset_v2(0));
        make_context();
    }
    crt_background_wait();
    CUfunction function;
    CUdeviceptr out = allocate();
    load(work_ptx, "work", &function);
    launch(function, out, BLOCKS, 7, NULL);
    cr_expect(is_right(out, BLOCKS, 7));
}

Test(tiers, a_child_of_a_fork_has_no_part_in_it)
{
    choose("0", "1");
    CUfunction function;
    CUdeviceptr out = allocate_big();
    CUmodule module = launch_big(&function, out);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(cuModuleUnload(module) == CRT_SUCCESS || cuCtxSynchronize() == CRT_SUCCESS);
    }
    int status = -1;
    waitpid(child, &status, 0);
    cr_expect_eq(status, 0);
    crt_background_wait();
    cr_expect_eq(best_count(function), 1);
}

Test(tiers, a_process_ends_while_kernels_are_compiled)
{
    for (int i = 0; i < 4; i++) {
        pid_t child = fork();
        if (child == 0) {
            CUfunction function;
            alarm(60);
            choose("0", "3");
            CUdeviceptr out = allocate_big();
            for (int k = 0; k < i; k++)
                launch_big(&function, out);
            exit(0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        cr_expect_eq(status, 0);
    }
}

static void put(const char *root, const char *path, const char *text)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    cr_assert(file != NULL);
    fputs(text, file);
    fclose(file);
}

/* With memory for the quick code, and none for more. */
Test(tiers, without_memory_to_compile_it_stays_with_quick_code)
{
    choose("100", "1");
    char root[] = "/tmp/ptxrun-tiers-XXXXXX";
    cr_assert(mkdtemp(root) != NULL);
    put(root, "proc/meminfo", "MemTotal: 999999 kB\nMemFree: 1 kB\nMemAvailable: 1 kB\n");
    CUdeviceptr out = allocate();
    CUfunction function;
    load(work_ptx, "work", &function);
    launch(function, out, 1, 1, NULL);
    OK(cuCtxSynchronize());
    crt_memory_set_root(root);
    /* What it has earned so far is not enough, and this is: */
    atomic_store(&kernel_of(function)->rent.ran_ns, UINT64_C(1) << 60);
    launch(function, out, BLOCKS, 50, NULL);
    OK(cuCtxSynchronize());
    crt_background_wait();
    cr_expect_eq(best_count(function), 0);
    cr_expect(atomic_load(&kernel_of(function)->rent.is_settled));
    launch(function, out, BLOCKS, 60, NULL);
    cr_expect(is_right(out, BLOCKS, 60));
    crt_memory_set_root("");
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", root);
    cr_expect_eq(system(command), 0);
}

/* ---- many threads ---- */

#define HOST_THREADS 4

static void *launch_often(void *arg)
{
    CUfunction function = arg;
    CUdeviceptr out;
    CUstream stream;
    make_context();
    if (cuMemAlloc_v2(&out, ELEMENTS * sizeof(unsigned)) || cuStreamCreate(&stream, 1))
        return arg;
    for (unsigned i = 0; i < 40; i++) {
        unsigned blocks = 1 + i * 37 % 200;
        unsigned rounds = 1 + i % 5 * 30;
        void *params[] = {&out, &rounds};
        if (cuLaunchKernel(function, blocks, 1, 1, THREADS, 1, 1, 0, stream, params, NULL) ||
            cuStreamSynchronize(stream) || !is_right(out, blocks, rounds))
            return arg;
    }
    return NULL;
}

static void launch_from_threads(const char *compile_threads)
{
    choose("0", compile_threads);
    CUfunction functions[2];
    pthread_t threads[HOST_THREADS];
    load(work_ptx, "work", &functions[0]);
    load(work_ptx, "work", &functions[1]);
    for (int i = 0; i < HOST_THREADS; i++)
        pthread_create(&threads[i], NULL, launch_often, functions[i % 2]);
    for (int i = 0; i < HOST_THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        cr_expect(failed == NULL);
    }
    crt_background_wait();
    cr_expect(best_count(functions[0]) > 0 && best_count(functions[1]) > 0);
}

Test(tiers, many_threads_launch_while_code_changes)
{
    launch_from_threads("2");
}

Test(tiers, many_threads_launch_without_a_background)
{
    launch_from_threads("0");
}
