/* SPDX-License-Identifier: Apache-2.0 */
#include "handler_program.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "check.h"

typedef void (*handler_fn)(int);

extern handler_fn __sysv_signal(int signal_number, handler_fn handler);

static const struct driver_functions *cuda;

static const char ptx[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry wait_and_fault(.param .u64 p)\n{\n"
                          ".reg .b64 %rd<3>; .reg .b32 %r<2>; .reg .pred %p;\n"
                          "ld.param.u64 %rd1, [p]; st.volatile.global.u32 [%rd1], 1;\n"
                          "again: ld.volatile.global.u32 %r1, [%rd1+4]; setp.eq.u32 %p, %r1, 0;\n"
                          "@%p bra again;\n"
                          "mov.u64 %rd2, 0xdead000000; st.global.u32 [%rd2], 1; ret;\n}\n";

/* What the kernel and this program tell each other. */
struct flags {
    volatile uint32_t runs;
    volatile uint32_t may_fault;
};

static volatile sig_atomic_t calls; /* of handlers */
static volatile sig_atomic_t has_stack;
static sigjmp_buf resume;
static char *hole;
static char signal_stack[64 * 1024];

static void note_call(void)
{
    const char *frame = __builtin_frame_address(0);
    calls++;
    has_stack = frame >= signal_stack && frame < signal_stack + sizeof signal_stack;
    siglongjmp(resume, 1);
}

static void plain_handler(int signal_number)
{
    if (signal_number == SIGSEGV)
        note_call();
}

static void other_handler(int signal_number)
{
    plain_handler(signal_number);
}

static void full_handler(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    if (signal_number == SIGSEGV && info->si_addr == hole)
        note_call();
}

__attribute__((no_sanitize("address", "thread", "undefined"), noinline)) static void
fault_here(void)
{
    *(volatile char *)hole = 1;
}

/* A fault of the program's own gets to its handler, once. */
static void check_own_fault(bool is_on_stack)
{
    calls = 0;
    if (sigsetjmp(resume, 1) == 0)
        fault_here();
    CHECK(calls == 1);
    CHECK(!is_on_stack || has_stack);
}

static void *check_in_thread(void *arg)
{
    check_own_fault(false);
    return arg;
}

static void check_own_faults(bool is_on_stack)
{
    pthread_t thread;
    check_own_fault(is_on_stack);
    CHECK(pthread_create(&thread, NULL, check_in_thread, NULL) == 0);
    pthread_join(thread, NULL);
    check_own_fault(is_on_stack);
}

/* ---- ways to install a handler ---- */

static handler_fn current_handler(void)
{
    struct sigaction now;
    CHECK(sigaction(SIGSEGV, NULL, &now) == 0);
    return now.sa_handler;
}

static void with_sigaction(void)
{
    struct sigaction action = {.sa_sigaction = full_handler, .sa_flags = SA_SIGINFO};
    struct sigaction now;
    sigaddset(&action.sa_mask, SIGUSR1);
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    CHECK(sigaction(SIGSEGV, NULL, &now) == 0);
    CHECK(now.sa_sigaction == full_handler && (now.sa_flags & SA_SIGINFO));
    CHECK(sigismember(&now.sa_mask, SIGUSR1) == 1);
}

static void with_signal(void)
{
    CHECK(signal(SIGSEGV, other_handler) != SIG_ERR);
    CHECK(signal(SIGSEGV, plain_handler) == other_handler);
    CHECK(current_handler() == plain_handler);
}

static void with_sigset(void)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    CHECK(sigset(SIGSEGV, plain_handler) != SIG_ERR);
#pragma GCC diagnostic pop
    CHECK(current_handler() == plain_handler);
}

static void with_stack(void)
{
    stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    struct sigaction action = {.sa_handler = plain_handler, .sa_flags = SA_ONSTACK | SA_NODEFER};
    CHECK(sigaltstack(&stack, NULL) == 0);
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
}

static void once_with_sigaction(void)
{
    struct sigaction action = {.sa_handler = plain_handler, .sa_flags = (int)SA_RESETHAND};
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
}

static void once_with_signal(void)
{
    CHECK(__sysv_signal(SIGSEGV, plain_handler) != SIG_ERR);
}

static void no_handler(void)
{
    CHECK(signal(SIGSEGV, SIG_DFL) != SIG_ERR);
    CHECK(current_handler() == SIG_DFL);
}

static void ignore(void)
{
    CHECK(signal(SIGSEGV, SIG_IGN) != SIG_ERR);
    CHECK(current_handler() == SIG_IGN);
}

/* Children have their parent's handlers, and change only their own. */
static void check_in_child(void)
{
    int status;
    CHECK(signal(SIGSEGV, other_handler) != SIG_ERR);
    pid_t child = fork();
    if (child == 0) {
        CHECK(current_handler() == other_handler);
        check_own_fault(false);
        once_with_sigaction();
        check_own_fault(false);
        CHECK(current_handler() == SIG_DFL);
        _exit(7);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK(current_handler() == other_handler);
    check_own_fault(false);
}

/* ---- kernels ---- */

/* A kernel's fault gives its code and calls no handler. during: runs while the kernel does. */
static void check_kernel_fault(void (*during)(void))
{
    CUcontext ctx;
    CUmodule module;
    CUfunction kernel;
    struct flags *flags;
    void *memory;
    OK(cuda->retain(&ctx, 0));
    OK(cuda->set_current(ctx));
    OK(cuda->load(&module, ptx));
    OK(cuda->get_function(&kernel, module, "wait_and_fault"));
    OK(cuda->host_alloc(&memory, sizeof *flags, 0));
    flags = memory;
    memset(memory, 0, sizeof *flags);
    flags->may_fault = !during;
    void *params[] = {&memory};
    OK(cuda->launch(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    while (!flags->runs)
        sched_yield();
    calls = 0;
    if (during)
        during();
    flags->may_fault = 1;
    EXPECT(CRT_ILLEGAL_ADDRESS, cuda->synchronize());
    CHECK(calls == 0);
    OK(cuda->reset(0));
}

static void check_way(void (*install)(void), bool is_on_stack)
{
    check_kernel_fault(install);
    check_own_faults(is_on_stack);
    check_kernel_fault(NULL);
    check_own_faults(is_on_stack);
    install();
    check_own_faults(is_on_stack);
    check_kernel_fault(NULL);
}

static void check_once(void (*install)(void))
{
    check_kernel_fault(install);
    CHECK(current_handler() == plain_handler);
    check_own_fault(false);
    CHECK(current_handler() == SIG_DFL);
    check_kernel_fault(NULL);
}

int handler_program(const struct driver_functions *driver, const char *mode)
{
    cuda = driver;
    hole = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(hole != MAP_FAILED);
    CHECK(signal(SIGSEGV, other_handler) != SIG_ERR);
    check_own_faults(false);
    OK(cuda->init(0));
    check_own_faults(false);
    if (strcmp(mode, "default") == 0 || strcmp(mode, "ignore") == 0) {
        check_kernel_fault(strcmp(mode, "ignore") == 0 ? ignore : no_handler);
        fault_here();
        return 1;
    }
    CHECK(current_handler() == other_handler);
    check_kernel_fault(NULL);
    CHECK(signal(SIGSEGV, plain_handler) == other_handler);
    check_way(with_sigaction, false);
    check_way(with_signal, false);
    check_way(with_sigset, false);
    check_once(once_with_sigaction);
    check_once(once_with_signal);
    check_way(with_stack, true);
    check_in_child();
    check_kernel_fault(NULL);
    puts("every fault got to whom it belongs");
    return 0;
}
