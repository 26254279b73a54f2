/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole processes from start to exit, two commands in turn: what the second takes more than the
 * first. Of each, wall time (median, least) and CPU time (median); then the median difference.
 *
 * bench_start RUNS COMMAND... -- COMMAND...
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

struct command {
    char **argv;
    double *wall_ms; /* of each run */
    double *cpu_ms;
};

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double milliseconds(struct timeval time)
{
    return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3;
}

/* Its output goes nowhere. */
static void run_once(const struct command *command, int run)
{
    posix_spawn_file_actions_t actions;
    struct rusage usage;
    pid_t child;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    double start = now_ms();
    if (posix_spawnp(&child, command->argv[0], &actions, NULL, command->argv, environ) != 0 ||
        wait4(child, &status, 0, &usage) != child || status != 0) {
        fprintf(stderr, "%s fails\n", command->argv[0]);
        exit(1);
    }
    command->wall_ms[run] = now_ms() - start;
    command->cpu_ms[run] = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
    posix_spawn_file_actions_destroy(&actions);
}

static int compare(const void *a, const void *b)
{
    double first = *(const double *)a;
    double second = *(const double *)b;
    return (first > second) - (first < second);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

static void print(const struct command *command, int runs)
{
    double cpu = median(command->cpu_ms, runs);
    double wall = median(command->wall_ms, runs);
    for (char **word = command->argv; *word; word++)
        printf("%s ", *word);
    printf("\n    wall %.2f ms (least %.2f), CPU %.2f ms\n", wall, command->wall_ms[0], cpu);
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : 0;
    int split = 2;
    while (split < argc && strcmp(argv[split], "--") != 0)
        split++;
    if (runs < 1 || split == 2 || split + 1 >= argc) {
        fprintf(stderr, "bench_start RUNS COMMAND... -- COMMAND...\n");
        return 1;
    }
    argv[split] = NULL;
    struct command commands[2] = {{.argv = argv + 2}, {.argv = argv + split + 1}};
    double *difference = calloc((size_t)runs, sizeof *difference);
    for (int i = 0; i < 2; i++) {
        commands[i].wall_ms = calloc((size_t)runs, sizeof(double));
        commands[i].cpu_ms = calloc((size_t)runs, sizeof(double));
        run_once(&commands[i], 0); /* files come into memory, and code into the cache */
    }
    for (int run = 0; run < runs; run++) {
        for (int i = 0; i < 2; i++)
            run_once(&commands[i], run);
        difference[run] = commands[1].wall_ms[run] - commands[0].wall_ms[run];
    }
    for (int i = 0; i < 2; i++)
        print(&commands[i], runs);
    double middle = median(difference, runs);
    printf("the second takes %.2f ms more (quarters of the runs: %.2f and less, %.2f and more)\n",
           middle, difference[runs / 4], difference[runs * 3 / 4]);
    return 0;
}
