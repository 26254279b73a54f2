/* SPDX-License-Identifier: Apache-2.0
 *
 * The face of libptxrun-compile.so: one exported function. Keeps LLVM's ways of ending a process
 * away from the application.
 */
#include <fenv.h>
#include <llvm-c/Core.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm/Config/llvm-config.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/compile.h"
#include "jit/orc_link.h"
#include "util/log.h"

#define WORK_STACK_BYTES   ((size_t)16 << 20)
#define FATAL_REASON_BYTES 512

const struct jit_compiler *ptxrun_compiler(void);

static pthread_once_t setup_once = PTHREAD_ONCE_INIT;

/* Where a fatal error of the work on this thread goes, and who catches faults. */
static _Thread_local struct {
    jmp_buf *landing;
    jit_guard_fn guard;
    char reason[FATAL_REASON_BYTES];
} fatal;

/* LLVM ends the process when this returns. */
static void on_fatal_error(const char *reason)
{
    if (!fatal.landing)
        return;
    snprintf(fatal.reason, sizeof fatal.reason, "%s", reason);
    longjmp(*fatal.landing, 1);
}

/* There are no variables to describe, only lines; LLVM's default tracker of variables takes a tenth
 * of the code generator's time to find that out. */
static void set_llvm_options(void)
{
    static const char *const options[] = {"ptxrun", "-experimental-debug-variable-locations=false"};
    LLVMParseCommandLineOptions(2, options, NULL);
}

static void setup(void)
{
    set_llvm_options();
    LLVMInstallFatalErrorHandler(on_fatal_error);
}

struct work {
    jit_work_fn run;
    void *argument;
    jit_guard_fn guard;
    struct pxr_error *err;
    enum pxr_status status;
};

static enum pxr_status catch_error(jit_work_fn run, void *argument, struct pxr_error *err)
{
    jmp_buf *const outer = fatal.landing;
    jmp_buf landing;
    enum pxr_status status;
    if (setjmp(landing) == 0) {
        fatal.landing = &landing;
        status = run(argument, err);
    } else {
        status = pxr_fail(err, PXR_COMPILE_FAILED, "LLVM gave up: %s", fatal.reason);
    }
    fatal.landing = outer;
    return status;
}

static void run_guarded(void *argument)
{
    struct work *work = argument;
    work->status = work->run(work->argument, work->err);
}

/* LLVM has defects, too: its code generator was seen to read what it had freed. */
static enum pxr_status catch_fault(void *argument, struct pxr_error *err)
{
    struct work *work = argument;
    if (!fatal.guard)
        run_guarded(work);
    else if (!fatal.guard(run_guarded, work))
        return pxr_fail(err, PXR_COMPILE_FAILED, "LLVM has crashed");
    return work->status;
}

enum pxr_status jit_catch_fatal(jit_work_fn run, void *argument, struct pxr_error *err)
{
    struct work work = {.run = run, .argument = argument, .err = err};
    return catch_error(catch_fault, &work, err);
}

static void open_faults(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    sigset_t faults;
    sigemptyset(&faults);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(&faults, numbers[i]);
    pthread_sigmask(SIG_UNBLOCK, &faults, NULL);
}

static void *work_main(void *argument)
{
    struct work *work = argument;
    fatal.guard = work->guard;
    if (work->guard)
        open_faults();
    /* LLVM folds constants with the host's arithmetic; a thread inherits its creator's modes. */
    fesetenv(FE_DFL_ENV);
    work->status = catch_error(work->run, work->argument, work->err);
    return NULL;
}

/* 0 or an errno value. */
static int start_thread(pthread_t *thread, struct work *work)
{
    pthread_attr_t attr;
    int rc = pthread_attr_init(&attr);
    if (rc != 0)
        return rc;
    pthread_attr_setstacksize(&attr, WORK_STACK_BYTES);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(thread, &attr, work_main, work);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return rc;
}

enum pxr_status jit_run_work(jit_work_fn run, void *argument, jit_guard_fn guard,
                             struct pxr_error *err)
{
    pthread_once(&setup_once, setup);
    struct work work = {.run = run, .argument = argument, .guard = guard, .err = err};
    pthread_t thread;
    int rc = start_thread(&thread, &work);
    if (rc == 0)
        pthread_join(thread, NULL);
    else
        work.status = pxr_fail(err, PXR_OUT_OF_MEMORY, "cannot start a thread to compile on: %s",
                               strerror(rc));
    return work.status;
}

struct compile_work {
    const struct jit_request *request;
    struct jit_object *object;
};

static enum pxr_status compile_or_check(void *argument, struct pxr_error *err)
{
    struct compile_work *work = argument;
    if (!work->object)
        return jit_check_request(work->request, err);
    return jit_compile_request(work->request, work->object, err);
}

static enum pxr_status run_compile(void *argument, struct pxr_error *err)
{
    return jit_catch_fatal(compile_or_check, argument, err);
}

static void forget(struct jit_object *object)
{
    free(object->bytes);
    free(object->explanation);
    free(object->steps.steps);
    memset(object, 0, sizeof *object);
}

static void be_talkative(const struct jit_request *request)
{
    if (request && request->is_talkative)
        pxr_log_set_level(PXR_LOG_INFO);
}

static enum pxr_status compile(const struct jit_request *request, struct jit_object *object,
                               struct pxr_error *err)
{
    struct compile_work work = {.request = request, .object = object};
    if (object)
        memset(object, 0, sizeof *object);
    be_talkative(request);
    enum pxr_status status = jit_run_work(run_compile, &work, request ? request->guard : NULL, err);
    if (status != PXR_OK && object)
        forget(object);
    return status;
}

static enum pxr_status link_variant(const struct jit_link *link, struct jit_linked **linked,
                                    uint64_t *address, struct pxr_error *err)
{
    if (link->request)
        memset(link->object, 0, sizeof *link->object);
    be_talkative(link->request);
    enum pxr_status status = orc_link(link, linked, address, err);
    if (status != PXR_OK && link->request)
        forget(link->object);
    return status;
}

static enum pxr_status run_describe(void *argument, struct pxr_error *err)
{
    return jit_target_describe(argument, err);
}

static enum pxr_status describe_target(char **text, struct pxr_error *err)
{
    return jit_run_work(run_describe, text, NULL, err);
}

__attribute__((visibility("default"))) const struct jit_compiler *ptxrun_compiler(void)
{
    static const struct jit_compiler compiler = {.abi = JIT_COMPILER_ABI,
                                                 .llvm_version = LLVM_VERSION_STRING,
                                                 .compile = compile,
                                                 .describe_target = describe_target,
                                                 .link = link_variant,
                                                 .unlink = orc_unlink};
    return &compiler;
}
