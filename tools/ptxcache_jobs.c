/* SPDX-License-Identifier: Apache-2.0
 *
 * See ptxcache_jobs.h. The largest kernels come first, so that the last ones are short and all
 * threads end at about the same time.
 */
#include "tools/ptxcache_jobs.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BAR_COLUMNS 30
#define REDRAW_NS   200000000L
#define PLAIN_STEPS 10u /* lines where there is no bar */
#define THREADS_MAX 1024

bool ptxcache_jobs_add(struct ptxcache_jobs *jobs, const struct ptxcache_job *job)
{
    if (jobs->count == jobs->room) {
        size_t room = jobs->room ? 2 * jobs->room : 64;
        void *grown = realloc(jobs->jobs, room * sizeof *jobs->jobs);
        if (!grown) {
            ptxcache_complain("no memory for so many kernels");
            return false;
        }
        jobs->jobs = grown;
        jobs->room = room;
    }
    struct ptxcache_job *added = &jobs->jobs[jobs->count];
    *added = *job;
    added->number = jobs->count++;
    added->weight = crt_warm_weight(job->kernel);
    return true;
}

void ptxcache_jobs_fini(struct ptxcache_jobs *jobs)
{
    free(jobs->jobs);
    *jobs = (struct ptxcache_jobs){0};
}

/* ---- the threads ---- */

/* All but the constants is guarded by lock. */
struct run {
    struct ptxcache_jobs *jobs;
    bool is_verbose;
    bool has_bar;
    struct timespec start;
    uint64_t all_weight;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t next;
    size_t done;
    uint64_t done_weight;
    uint64_t made_weight; /* of those that took time */
    unsigned plain_step;
};

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/* As long as nothing was compiled nobody knows. */
static void left_text(const struct run *run, char text[48])
{
    uint64_t rest = run->all_weight - run->done_weight;
    text[0] = '\0';
    if (run->made_weight > 0 && rest > 0)
        snprintf(text, 48, ", about %.0f s left",
                 seconds_since(&run->start) * (double)rest / (double)run->made_weight);
}

static void draw(const struct run *run)
{
    char left[48];
    char bar[BAR_COLUMNS + 1];
    size_t filled = run->jobs->count ? run->done * BAR_COLUMNS / run->jobs->count : BAR_COLUMNS;
    memset(bar, '.', BAR_COLUMNS);
    memset(bar, '#', filled);
    bar[BAR_COLUMNS] = '\0';
    left_text(run, left);
    fprintf(stderr, "\r[%s] %zu of %zu%s\033[K", bar, run->done, run->jobs->count, left);
}

static void print_plain(struct run *run)
{
    char left[48];
    unsigned step = (unsigned)(run->done * PLAIN_STEPS / run->jobs->count);
    if (step == run->plain_step)
        return;
    run->plain_step = step;
    left_text(run, left);
    fprintf(stderr, "ptxcache: %zu of %zu%s\n", run->done, run->jobs->count, left);
}

static const char *const outcome_texts[] = {
    [CRT_WARM_MADE] = "compiled",
    [CRT_WARM_PRESENT] = "was there",
    [CRT_WARM_REFUSED] = "not supported",
    [CRT_WARM_FAILED] = "failed",
};

static void finish_locked(struct run *run, const struct ptxcache_job *job, double seconds)
{
    run->done++;
    run->done_weight += job->weight;
    run->made_weight += job->outcome == CRT_WARM_MADE ? job->weight : 0;
    if (run->is_verbose)
        fprintf(stderr, "%sptxcache: %s%s: %s in %.2f s\n", run->has_bar ? "\r\033[K" : "",
                crt_kernel_name(job->kernel), job->variant.is_quick ? ", quick tier" : "",
                outcome_texts[job->outcome], seconds);
    if (!run->has_bar)
        print_plain(run);
    pthread_cond_signal(&run->changed);
}

static void *work(void *argument)
{
    struct run *run = argument;
    pthread_mutex_lock(&run->lock);
    while (run->next < run->jobs->count) {
        struct ptxcache_job *job = &run->jobs->jobs[run->next++];
        pthread_mutex_unlock(&run->lock);
        struct timespec start;
        clock_gettime(CLOCK_MONOTONIC, &start);
        job->outcome = crt_warm_kernel(job->kernel, &job->variant, job->skip, &job->error);
        double seconds = seconds_since(&start);
        pthread_mutex_lock(&run->lock);
        finish_locked(run, job, seconds);
    }
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

/* Draws until all is done. */
static void watch(struct run *run)
{
    pthread_mutex_lock(&run->lock);
    while (run->done < run->jobs->count) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += REDRAW_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (run->has_bar)
            draw(run);
        pthread_cond_timedwait(&run->changed, &run->lock, &until);
    }
    if (run->has_bar)
        fputs("\r\033[K", stderr);
    pthread_mutex_unlock(&run->lock);
}

static unsigned choose_threads(unsigned wanted, size_t jobs)
{
    cpu_set_t allowed;
    unsigned cpus =
        sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? (unsigned)CPU_COUNT(&allowed) : 1;
    unsigned threads = wanted ? wanted : cpus;
    threads = threads < THREADS_MAX ? threads : THREADS_MAX;
    return threads < jobs ? threads : (unsigned)jobs;
}

/* Where threads cannot be had, the ones that there are do it all. */
static unsigned run_threads(struct run *run, unsigned wanted)
{
    pthread_t threads[THREADS_MAX];
    unsigned count = 0;
    while (count < wanted && pthread_create(&threads[count], NULL, work, run) == 0)
        count++;
    if (count == 0)
        work(run);
    else
        watch(run);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return count ? count : 1;
}

/* ---- what came of it ---- */

static int by_weight(const void *left, const void *right)
{
    const struct ptxcache_job *a = left;
    const struct ptxcache_job *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* One line for a kernel, however many variants of it were wanted; they follow each other. */
static void print_problems(const struct ptxcache_jobs *jobs)
{
    const struct crt_kernel *last = NULL;
    for (size_t i = 0; i < jobs->count; i++) {
        const struct ptxcache_job *job = &jobs->jobs[i];
        bool is_problem = job->outcome == CRT_WARM_REFUSED || job->outcome == CRT_WARM_FAILED;
        if (is_problem && job->kernel != last) {
            ptxcache_complain("%s: kernel '%s': %s", job->image, crt_kernel_name(job->kernel),
                              job->error.message);
            last = job->kernel;
        }
    }
}

enum ptxcache_exit ptxcache_jobs_run(struct ptxcache_jobs *jobs, const struct ptxcache *tool)
{
    size_t counts[CRT_WARM_FAILED + 1] = {0};
    struct run run = {.jobs = jobs,
                      .is_verbose = tool->is_verbose,
                      .has_bar = isatty(STDERR_FILENO),
                      .lock = PTHREAD_MUTEX_INITIALIZER,
                      .changed = PTHREAD_COND_INITIALIZER};
    if (jobs->count > 0)
        qsort(jobs->jobs, jobs->count, sizeof *jobs->jobs, by_weight);
    for (size_t i = 0; i < jobs->count; i++)
        run.all_weight += jobs->jobs[i].weight;
    clock_gettime(CLOCK_MONOTONIC, &run.start);
    unsigned threads = run_threads(&run, choose_threads(tool->jobs, jobs->count));
    print_problems(jobs);
    for (size_t i = 0; i < jobs->count; i++)
        counts[jobs->jobs[i].outcome]++;
    printf("compiled %zu, already there %zu, not supported %zu, failed %zu; %.1f s, %u jobs\n",
           counts[CRT_WARM_MADE], counts[CRT_WARM_PRESENT], counts[CRT_WARM_REFUSED],
           counts[CRT_WARM_FAILED], seconds_since(&run.start), threads);
    return counts[CRT_WARM_FAILED] ? PTXCACHE_FAILED : PTXCACHE_OK;
}
