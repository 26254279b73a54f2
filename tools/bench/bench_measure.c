/* SPDX-License-Identifier: Apache-2.0
 *
 * Time, statistics of samples, and processes that measure with one number of threads each.
 */
#include "tools/bench/bench_measure.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKER_NAME "ptxrun-worker" /* scheduler/worker_pool.c */

double bench_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

struct bench_times bench_times_of(double *samples_us, unsigned count)
{
    qsort(samples_us, count, sizeof(double), compare_doubles);
    return (struct bench_times){.median_us =
                                    (samples_us[(count - 1) / 2] + samples_us[count / 2]) / 2,
                                .min_us = samples_us[0],
                                .max_us = samples_us[count - 1]};
}

void bench_mean_add(struct bench_mean *mean, double number)
{
    if (number > 0) {
        mean->log_sum += log(number);
        mean->count++;
    }
}

double bench_mean_value(const struct bench_mean *mean)
{
    return mean->count ? exp(mean->log_sum / mean->count) : 0;
}

/* ---- processes ---- */

static int run_process(bench_process_fn run, void *arg, unsigned threads, bool is_first)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int exit_status = run(arg, threads, is_first);
        fflush(NULL);
        _exit(exit_status);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int bench_for_each_number(const char *list, bench_process_fn run, void *arg)
{
    int exit_status = 0;
    for (const char *next = list; *next != '\0';) {
        char *end;
        unsigned threads = (unsigned)strtoul(next, &end, 10);
        exit_status |= run_process(run, arg, threads, next == list);
        next = *end == ',' ? end + 1 : "";
    }
    return exit_status;
}

/* ---- CPUs ---- */

/* The n-th CPU, counted in circles, of those that this process may use. */
static cpu_set_t pick_cpu(const cpu_set_t *usable, unsigned n)
{
    cpu_set_t picked;
    CPU_ZERO(&picked);
    unsigned skip = n % (unsigned)CPU_COUNT(usable);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, usable) && skip-- == 0) {
            CPU_SET(cpu, &picked);
            break;
        }
    return picked;
}

static bool is_worker(const char *task)
{
    char path[300], name[64] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    bool is_read = fgets(name, sizeof name, file) != NULL;
    fclose(file);
    return is_read && strncmp(name, WORKER_NAME, strlen(WORKER_NAME)) == 0;
}

void bench_pin(unsigned threads)
{
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0 || CPU_COUNT(&usable) == 0)
        return;
    DIR *tasks = opendir("/proc/self/task");
    unsigned next = 1; // the first CPU is the calling thread's as long as there are enough
    for (struct dirent *task; tasks && (task = readdir(tasks)) != NULL;) {
        if (task->d_name[0] == '.' || !is_worker(task->d_name))
            continue;
        cpu_set_t cpu = pick_cpu(&usable, next++);
        sched_setaffinity((pid_t)strtol(task->d_name, NULL, 10), sizeof cpu, &cpu);
    }
    if (tasks)
        closedir(tasks);
    if (threads == 1) { // otherwise OpenMP would put all of its threads on this CPU
        cpu_set_t cpu = pick_cpu(&usable, 0);
        sched_setaffinity(0, sizeof cpu, &cpu);
    }
}
