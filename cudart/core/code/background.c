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
#include "cudart/core/code/tier.h"
#include "cudart/core/code/trial.h"
#include "scheduler/scheduler.h"
#include "util/log.h"
#include "util/options.h"

/* A worker that runs quick code leaves its CPU to a compilation (sch_leave_cpus). If there is only
 * one worker, or others want the CPUs, a compilation gets half of one: less, and the time until it
 * ends would cost more than it does. */
#define NICENESS 1

/* LLVM runs on a thread of its own (jit/compiler_entry.c). */
#define STACK_BYTES ((size_t)512 * 1024)

/* A library's kernels are compiled ahead for so long at a time, and at least one. */
#define AHEAD_MAX_NS UINT64_C(100000000)

struct job {
    struct crt_library *library; /* held */
    struct crt_kernel *kernel;   /* that has earned best code; or NULL: */
    struct crt_trial *trial;     /* that goes on; NULL: quick code is made ahead */
    struct tr_facts facts;
    struct job *next;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job *earned; /* these first */
    struct job *ahead;
    unsigned earned_count; /* of those that run */
    unsigned threads;
} background = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* ---- jobs ---- */

static struct job **queue_of(const struct job *job)
{
    return job->kernel ? &background.earned : &background.ahead;
}

static void add_locked(struct job *job)
{
    struct job **end = queue_of(job);
    while (*end)
        end = &(*end)->next;
    *end = job;
}

/* Of the earned ones the one whose quick code costs most for what the best costs; NULL: none. */
static struct job *take_first_locked(void)
{
    struct job **first = background.earned ? &background.earned : &background.ahead;
    double most = 0;
    for (struct job **at = &background.earned; *at; at = &(*at)->next) {
        double urgency = crt_tier_urgency((*at)->kernel);
        if (urgency > most) {
            most = urgency;
            first = at;
        }
    }
    struct job *job = *first;
    if (job)
        *first = job->next;
    return job;
}

static void count_earned_locked(int more)
{
    background.earned_count += (unsigned)more;
    sch_leave_cpus(background.earned_count);
}

/* NULL: there is none, and the thread is no longer counted. */
static struct job *take_job(void)
{
    pthread_mutex_lock(&background.lock);
    struct job *job = take_first_locked();
    if (!job)
        background.threads--;
    else if (job->kernel)
        count_earned_locked(1);
    pthread_cond_broadcast(&background.changed);
    pthread_mutex_unlock(&background.lock);
    return job;
}

static void destroy_job(struct job *job)
{
    crt_library_let_go(job->library);
    free(job);
}

static void end_job(struct job *job)
{
    pthread_mutex_lock(&background.lock);
    if (job->kernel)
        count_earned_locked(-1);
    pthread_mutex_unlock(&background.lock);
    destroy_job(job);
}

/* Code that nobody can launch any more is not made. */
static bool is_of_use(const struct crt_library *library)
{
    return !crt_is_exiting() && !crt_library_is_closed(library);
}

/* Whether there is a CPU that neither a kernel nor a job of more use wants. */
static bool has_idle_cpu(void)
{
    pthread_mutex_lock(&background.lock);
    bool is_wanted = background.earned != NULL;
    pthread_mutex_unlock(&background.lock);
    return !is_wanted && sch_has_idle_cpu();
}

/* A summary that was in the cache speaks of code that is there, too: what is missing of it is not
 * made before it is wanted. */
static void make_ahead(struct crt_library *library)
{
    uint64_t end_ns = UINT64_MAX;
    if (!has_idle_cpu() || !crt_library_is_parsed(library))
        return;
    for (uint32_t i = 0; i < library->kernel_count && crt_now_ns() <= end_ns; i++) {
        if (!is_of_use(library) || !has_idle_cpu())
            return;
        if (crt_kernel_make_ahead(library->kernels[i]) && end_ns == UINT64_MAX)
            end_ns = crt_now_ns() + AHEAD_MAX_NS;
    }
}

static void run_job(struct job *job)
{
    if (!job->kernel && !job->trial) {
        make_ahead(job->library);
        atomic_store(&job->library->is_offered, false);
    } else if (is_of_use(job->library)) {
        if (job->kernel)
            crt_kernel_make_best(job->kernel, &job->facts);
        else
            crt_trial_go_on(job->trial);
    }
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
    if (background.threads > 0)
        return 0;
    *queue_of(job) = NULL; /* no thread has been there to leave others behind */
    return rc;
}

/* 0 or an errno value. */
static int submit(const struct job *described)
{
    struct job *job = malloc(sizeof *job);
    if (!job)
        return ENOMEM;
    *job = *described;
    crt_library_hold(job->library);
    pthread_mutex_lock(&background.lock);
    int rc = submit_locked(job);
    pthread_mutex_unlock(&background.lock);
    if (rc != 0)
        destroy_job(job);
    return rc;
}

void crt_background_make(struct crt_kernel *kernel, const struct tr_facts *facts)
{
    int rc = submit(&(struct job){.library = kernel->library, .kernel = kernel, .facts = *facts});
    if (rc != 0)
        pxr_log(PXR_LOG_WARNING, "kernel '%s' stays with its quick code: %s",
                crt_kernel_name(kernel), strerror(rc));
}

void crt_background_offer(struct crt_library *library)
{
    const struct pxr_options *options = pxr_options_get();
    bool is_wanted =
        crt_tier() != PXR_TIER_BEST && options->compile_threads > 0 && !options->explain;
    if (is_wanted && !atomic_exchange(&library->is_offered, true) &&
        submit(&(struct job){.library = library}) != 0)
        atomic_store(&library->is_offered, false);
}

void crt_background_try(struct crt_library *library, struct crt_trial *trial)
{
    submit(&(struct job){.library = library, .trial = trial});
}

void crt_background_wait(void)
{
    pthread_mutex_lock(&background.lock);
    while (background.threads > 0)
        pthread_cond_wait(&background.changed, &background.lock);
    pthread_mutex_unlock(&background.lock);
}
