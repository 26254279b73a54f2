/* SPDX-License-Identifier: Apache-2.0
 *
 * See background.h.
 */
#include "cudart/core/code/background.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cudart/core/base/process.h"
#include "cudart/core/code/module.h"
#include "util/log.h"
#include "util/options.h"

/* Where workers want all CPUs, a compilation gets half of one: less, and the time until it ends
 * would cost more than it does. */
#define NICENESS 1

/* LLVM runs on a thread of its own (jit/compiler_entry.c). */
#define STACK_BYTES ((size_t)512 * 1024)

struct job {
    struct crt_kernel *kernel;
    struct tr_facts facts;
    struct job *next;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job *first;
    struct job **end; /* where the next job goes; NULL: first */
    unsigned threads;
} background = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* ---- jobs ---- */

static void add_locked(struct job *job)
{
    struct job **end = background.first ? background.end : &background.first;
    *end = job;
    background.end = &job->next;
}

/* NULL: there is none, and the thread is no longer counted. */
static struct job *take_job(void)
{
    pthread_mutex_lock(&background.lock);
    struct job *job = background.first;
    if (job)
        background.first = job->next;
    else
        background.threads--;
    pthread_cond_broadcast(&background.changed);
    pthread_mutex_unlock(&background.lock);
    return job;
}

static void end_job(struct job *job)
{
    crt_library_let_go(job->kernel->library);
    free(job);
}

/* Code that nobody can launch any more is not made. */
static void run_job(struct job *job)
{
    struct crt_kernel *kernel = job->kernel;
    if (!crt_is_exiting() && !crt_library_is_closed(kernel->library))
        crt_kernel_make_best(kernel, &job->facts);
    end_job(job);
}

/* ---- threads ---- */

/* The thread that LLVM runs on inherits both. Best effort. */
static void lower_priority(void)
{
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_BATCH, &none);
    setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
}

static void *thread_main(void *arg)
{
    (void)arg;
    lower_priority();
    for (struct job *job; (job = take_job());)
        run_job(job);
    return NULL;
}

/* Signals of the application never run here. 0 or an errno value. */
static int start_thread(void)
{
    pthread_attr_t attr;
    int rc = pthread_attr_init(&attr);
    if (rc != 0)
        return rc;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    rc = pthread_create(&thread, &attr, thread_main, NULL);
    if (rc == 0)
        pthread_setname_np(thread, "ptxrun-compile");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return rc;
}

/* With the lock held, so that a thread that has just found nothing to do is not relied on. */
static int submit_locked(struct job *job)
{
    add_locked(job);
    if (background.threads >= pxr_options_get()->compile_threads)
        return 0;
    int rc = start_thread();
    if (rc == 0)
        background.threads++;
    return background.threads > 0 ? 0 : rc;
}

void crt_background_make(struct crt_kernel *kernel, const struct tr_facts *facts)
{
    struct job *job = malloc(sizeof *job);
    int rc = job ? 0 : ENOMEM;
    if (job) {
        *job = (struct job){.kernel = kernel, .facts = *facts};
        crt_library_hold(kernel->library);
        pthread_mutex_lock(&background.lock);
        rc = submit_locked(job);
        if (rc != 0)
            background.first = NULL; /* no thread has been there to leave others behind */
        pthread_mutex_unlock(&background.lock);
    }
    if (rc == 0)
        return;
    pxr_log(PXR_LOG_WARNING, "kernel '%s' stays with its quick code: %s", crt_kernel_name(kernel),
            strerror(rc));
    if (job)
        end_job(job);
}

void crt_background_wait(void)
{
    pthread_mutex_lock(&background.lock);
    while (background.threads > 0)
        pthread_cond_wait(&background.changed, &background.lock);
    pthread_mutex_unlock(&background.lock);
}
