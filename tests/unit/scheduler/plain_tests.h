/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for Criterion where that cannot run: its process pool does not start under
 * ThreadSanitizer. Each test runs in a process of its own, one after the other. Only what the
 * tests of the scheduler use.
 */
#ifndef PTXRUN_TESTS_SCHEDULER_PLAIN_TESTS_H
#define PTXRUN_TESTS_SCHEDULER_PLAIN_TESTS_H

#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct plain_test {
    const char *name;
    void (*run)(void);
    struct plain_test *next;
};

static struct plain_test *plain_tests;
extern char **environ;

#define Test(suite, test, ...)                                                                     \
    static void run_##suite##_##test(void);                                                        \
    static struct plain_test entry_##suite##_##test = {#suite "." #test, run_##suite##_##test,     \
                                                       NULL};                                      \
    __attribute__((constructor)) static void add_##suite##_##test(void)                            \
    {                                                                                              \
        entry_##suite##_##test.next = plain_tests;                                                 \
        plain_tests = &entry_##suite##_##test;                                                     \
    }                                                                                              \
    static void run_##suite##_##test(void)

#define cr_assert(condition, ...)                                                                  \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define cr_assert_not(a, ...)      cr_assert(!(a))
#define cr_assert_eq(a, b, ...)    cr_assert((a) == (b))
#define cr_assert_neq(a, b, ...)   cr_assert((a) != (b))
#define cr_assert_lt(a, b, ...)    cr_assert((a) < (b))
#define cr_assert_leq(a, b, ...)   cr_assert((a) <= (b))
#define cr_assert_gt(a, b, ...)    cr_assert((a) > (b))
#define cr_assert_geq(a, b, ...)   cr_assert((a) >= (b))
#define cr_assert_null(a, ...)     cr_assert((a) == NULL)
#define cr_assert_not_null(a, ...) cr_assert((a) != NULL)

/* One test, in a new process. */
static int plain_spawn(char *program, const struct plain_test *test)
{
    char *arguments[] = {program, (char *)(uintptr_t)test->name, NULL};
    pid_t child = 0;
    int status = -1;
    if (posix_spawn(&child, program, NULL, NULL, arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "%s: failed, status %#x\n", test->name, (unsigned)status);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    int count = 0;
    bool is_child = argc == 2 && strchr(argv[1], '.');
    for (struct plain_test *test = plain_tests; test; test = test->next) {
        if (is_child && strcmp(test->name, argv[1]) == 0) {
            test->run();
            return 0;
        }
        count++;
        if (!is_child)
            failed += plain_spawn(argv[0], test);
    }
    printf("%d tests, %d failed\n", count, failed);
    return failed != 0;
}

#endif
