/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a test with code for another level of x86-64; skipped on a machine that cannot run it. The
 * processor is asked: virtual machines leave flags out of /proc/cpuinfo.
 *
 * with_cpu x86-64-v2|x86-64-v3 PROGRAM [ARGUMENT...]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77, WRONG_USE = 2 };

static bool is_level(const char *level)
{
    return strcmp(level, "x86-64-v2") == 0 || strcmp(level, "x86-64-v3") == 0;
}

static bool can_run(const char *level)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    return strcmp(level, "x86-64-v2") == 0 ? __builtin_cpu_supports("x86-64-v2")
                                           : __builtin_cpu_supports("x86-64-v3");
#else
    (void)level;
    return false;
#endif
}

int main(int argc, char **argv)
{
    if (argc < 3 || !is_level(argv[1])) {
        fprintf(stderr, "usage: %s x86-64-v2|x86-64-v3 PROGRAM [ARGUMENT...]\n", argv[0]);
        return WRONG_USE;
    }
    if (!can_run(argv[1])) {
        printf("this machine cannot run %s\n", argv[1]);
        return SKIPPED;
    }
    setenv("PTXRUN_CPU", argv[1], 1);
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return WRONG_USE;
}
