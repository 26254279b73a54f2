/* SPDX-License-Identifier: Apache-2.0
 *
 * Quick code that is made before a launch asks for it, and all that may happen meanwhile. CPUs are
 * idle here when no worker of this process runs blocks.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cudart/core/code/background.h"
#include "cudart/core/code/module.h"
#include "driver_fixture.h"
#include "scheduler/scheduler.h"

#define STORE_1                                                                                    \
    "(.param .u64 out)\n{ .reg .b64 %rd<2>;\n ld.param.u64 %rd1, [out];\n"                         \
    " st.global.u32 [%rd1], 1; ret;\n}\n"

static const char two_ptx[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                              ".visible .entry first" STORE_1 ".visible .entry second" STORE_1;

/* False, and the test has nothing to look at, where there is one CPU. */
static bool choose(const char *tier, const char *compile_threads)
{
    setenv("PTXRUN_TIER", tier, 1);
    setenv("PTXRUN_COMPILE_THREADS", compile_threads, 1);
    setenv("PTXRUN_THREADS", "2", 1);
    make_context();
    return sch_usable_cpus() > 1;
}

static struct crt_kernel *load(CUmodule *module, const char *name)
{
    CUfunction function;
    OK(cuModuleLoadData(module, two_ptx));
    OK(cuModuleGetFunction(&function, *module, name));
    return (struct crt_kernel *)function;
}

static void launch(struct crt_kernel *kernel)
{
    static const unsigned zero;
    CUdeviceptr out;
    unsigned got;
    OK(cuMemAlloc_v2(&out, sizeof got));
    OK(cuMemcpyHtoD_v2(out, &zero, sizeof zero));
    void *params[] = {&out};
    OK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH_v2(&got, out, sizeof got));
    cr_expect_eq(got, 1);
}

Test(ahead, the_first_launch_finds_code)
{
    CUmodule module;
    if (!choose("auto", "1"))
        return;
    struct crt_kernel *kernel = load(&module, "first");
    crt_background_wait();
    const struct crt_variant *ahead = kernel->ahead;
    cr_assert(ahead != NULL);
    cr_expect(ahead->key.is_quick && !crt_kernel_has_code(kernel));
    launch(kernel);
    cr_expect_eq(atomic_load(&kernel->quick), ahead);
    cr_expect(kernel->ahead == NULL);
}

/* Nothing is idle when the image is loaded, and something is after the launch. */
Test(ahead, the_next_kernel_is_made_while_the_program_goes_on)
{
    CUmodule module;
    if (!choose("quick", "1"))
        return;
    sch_leave_cpus(2);
    struct crt_kernel *second = load(&module, "second");
    CUfunction first;
    OK(cuModuleGetFunction(&first, module, "first"));
    crt_background_wait();
    cr_expect(second->ahead == NULL);
    sch_leave_cpus(0);
    launch((struct crt_kernel *)first);
    crt_background_wait();
    cr_expect(second->ahead != NULL);
}

static void expect_nothing(const char *tier, const char *compile_threads)
{
    CUmodule module;
    choose(tier, compile_threads);
    struct crt_kernel *kernel = load(&module, "first");
    crt_background_wait();
    cr_expect(kernel->ahead == NULL);
    launch(kernel);
    cr_expect(kernel->ahead == NULL);
}

Test(ahead, not_without_threads_in_the_background)
{
    expect_nothing("auto", "0");
}

Test(ahead, not_where_best_code_is_wanted_at_once)
{
    expect_nothing("best", "1");
}

Test(ahead, not_for_an_explanation)
{
    setenv("PTXRUN_EXPLAIN", "1", 1);
    expect_nothing("auto", "1");
}

Test(ahead, a_module_is_unloaded_meanwhile)
{
    choose("auto", "1");
    for (int i = 0; i < 20; i++) {
        CUmodule module;
        load(&module, "second");
        usleep((unsigned)i * 300);
        OK(cuModuleUnload(module));
    }
    crt_background_wait();
}

Test(ahead, what_cannot_be_compiled_is_refused_by_its_launch)
{
    static const char text[] = ".version 9.0\n.target sm_100a\n.address_size 64\n"
                               ".visible .entry first()\n{ tcgen05.wait::ld.sync.aligned; ret; }\n";
    CUmodule module;
    CUfunction function;
    choose("auto", "1");
    int result = cuModuleLoadData(&module, text);
    crt_background_wait();
    if (result == CRT_SUCCESS)
        result = cuModuleGetFunction(&function, module, "first");
    if (result == CRT_SUCCESS)
        result = cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    cr_expect_eq(result, CRT_NOT_SUPPORTED, "%d", result);
}

Test(ahead, a_child_of_a_fork_has_no_part_in_it)
{
    CUmodule module;
    choose("auto", "1");
    for (int i = 0; i < 10; i++) {
        load(&module, "first");
        usleep((unsigned)i * 500);
        pid_t child = fork();
        if (child == 0) {
            CUfunction function;
            alarm(20);
            int result = cuModuleGetFunction(&function, module, "first");
            _exit(result == CRT_SUCCESS);
        }
        int status = -1;
        waitpid(child, &status, 0);
        cr_expect_eq(status, 0);
    }
    crt_background_wait();
}

/* What a thread holds that is stopped in the middle looks like a leak, and so does a thread that
 * has ended and was to be waited for. */
static bool is_stopped_in_the_middle;

int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return is_stopped_in_the_middle;
}

const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_thread_leaks=0";
}

Test(ahead, a_process_ends_meanwhile)
{
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0) {
            CUmodule module;
            alarm(20);
            choose("auto", "1");
            load(&module, "first");
            usleep((unsigned)i * 1000);
            is_stopped_in_the_middle = true;
            exit(0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        cr_expect_eq(status, 0);
    }
}
