/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for Criterion in programs of several files where that cannot run: its process pool
 * does not start under ThreadSanitizer. Each test runs in a process of its own, one after the
 * other; with an argument only those whose names contain it. Only what these tests use.
 */
#ifndef PTXRUN_TESTS_CUDART_PLAIN_TESTS_H
#define PTXRUN_TESTS_CUDART_PLAIN_TESTS_H

#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct plain_options {
    void (*init)(void);
    void (*fini)(void);
    double timeout; /* of Criterion: here the alarm is the one of the whole program */
};

struct plain_test {
    const char *name;
    void (*run)(void);
    const struct plain_options *options;
    struct plain_test *next;
};

/* Weak: every file of the program has them. */
__attribute__((weak)) struct plain_test *plain_tests;
__attribute__((weak)) int plain_failures;
extern char **environ;

#define Test(suite, test, ...)                                                                     \
    static void run_##suite##_##test(void);                                                        \
    static const struct plain_options options_##suite##_##test = {__VA_ARGS__};                    \
    static struct plain_test entry_##suite##_##test = {#suite "." #test, run_##suite##_##test,     \
                                                       &options_##suite##_##test, NULL};           \
    __attribute__((constructor)) static void add_##suite##_##test(void)                            \
    {                                                                                              \
        entry_##suite##_##test.next = plain_tests;                                                 \
        plain_tests = &entry_##suite##_##test;                                                     \
    }                                                                                              \
    static void run_##suite##_##test(void)

#define cr_expect(condition, ...)                                                                  \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s ", __FILE__, __LINE__, #condition);                         \
            __VA_OPT__(fprintf(stderr, __VA_ARGS__);)                                              \
            fputc('\n', stderr);                                                                   \
            plain_failures++;                                                                      \
        }                                                                                          \
    } while (0)
#define cr_assert(condition, ...)                                                                  \
    do {                                                                                           \
        int before_ = plain_failures;                                                              \
        cr_expect(condition, __VA_ARGS__);                                                         \
        if (plain_failures != before_)                                                             \
            exit(1);                                                                               \
    } while (0)

/* The test ends here, and counts as passed. */
#define cr_skip_test(...)                                                                          \
    do {                                                                                           \
        fprintf(stderr, "%s:%d: skipped: ", __FILE__, __LINE__);                                   \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fputc('\n', stderr);                                                                       \
        exit(0);                                                                                   \
    } while (0)

#define cr_expect_eq(a, b, ...)        cr_expect((a) == (b), __VA_ARGS__)
#define cr_expect_neq(a, b, ...)       cr_expect((a) != (b), __VA_ARGS__)
#define cr_expect_lt(a, b, ...)        cr_expect((a) < (b), __VA_ARGS__)
#define cr_expect_leq(a, b, ...)       cr_expect((a) <= (b), __VA_ARGS__)
#define cr_expect_gt(a, b, ...)        cr_expect((a) > (b), __VA_ARGS__)
#define cr_expect_geq(a, b, ...)       cr_expect((a) >= (b), __VA_ARGS__)
#define cr_expect_not(a, ...)          cr_expect(!(a), __VA_ARGS__)
#define cr_expect_null(a, ...)         cr_expect((a) == NULL, __VA_ARGS__)
#define cr_expect_not_null(a, ...)     cr_expect((a) != NULL, __VA_ARGS__)
#define cr_expect_str_eq(a, b, ...)    cr_expect(strcmp((a), (b)) == 0, __VA_ARGS__)
#define cr_expect_arr_eq(a, b, n, ...) cr_expect(memcmp((a), (b), (n)) == 0, __VA_ARGS__)
#define cr_assert_eq(a, b, ...)        cr_assert((a) == (b), __VA_ARGS__)
#define cr_assert_neq(a, b, ...)       cr_assert((a) != (b), __VA_ARGS__)
#define cr_assert_lt(a, b, ...)        cr_assert((a) < (b), __VA_ARGS__)
#define cr_assert_leq(a, b, ...)       cr_assert((a) <= (b), __VA_ARGS__)
#define cr_assert_gt(a, b, ...)        cr_assert((a) > (b), __VA_ARGS__)
#define cr_assert_geq(a, b, ...)       cr_assert((a) >= (b), __VA_ARGS__)
#define cr_assert_not(a, ...)          cr_assert(!(a), __VA_ARGS__)
#define cr_assert_str_neq(a, b, ...)   cr_assert(strcmp((a), (b)) != 0, __VA_ARGS__)
#define cr_expect_str_neq(a, b, ...)   cr_expect(strcmp((a), (b)) != 0, __VA_ARGS__)
#define cr_assert_null(a, ...)         cr_assert((a) == NULL, __VA_ARGS__)
#define cr_assert_not_null(a, ...)     cr_assert((a) != NULL, __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...)    cr_assert(strcmp((a), (b)) == 0, __VA_ARGS__)
#define cr_assert_arr_eq(a, b, n, ...) cr_assert(memcmp((a), (b), (n)) == 0, __VA_ARGS__)

static inline int plain_run(const struct plain_test *test)
{
    if (test->options->init)
        test->options->init();
    test->run();
    if (test->options->fini)
        test->options->fini();
    return plain_failures != 0;
}

/* One test, in a new process. */
static inline int plain_spawn(char *program, const struct plain_test *test)
{
    char *arguments[] = {program, "run", (char *)(uintptr_t)test->name, NULL};
    pid_t child = 0;
    int status = -1;
    if (posix_spawn(&child, program, NULL, NULL, arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "%s: failed, status %#x\n", test->name, (unsigned)status);
        return 1;
    }
    return 0;
}

/* Arguments that begin with a dash are Criterion's. */
__attribute__((weak)) int main(int argc, char **argv)
{
    int failed = 0;
    int count = 0;
    bool is_child = argc == 3 && strcmp(argv[1], "run") == 0;
    const char *wanted = argc == 2 && argv[1][0] != '-' ? argv[1] : "";
    for (struct plain_test *test = plain_tests; test; test = test->next) {
        if (is_child && strcmp(test->name, argv[2]) == 0)
            return plain_run(test);
        if (is_child || !strstr(test->name, wanted))
            continue;
        count++;
        failed += plain_spawn(argv[0], test);
    }
    printf("%d tests, %d failed\n", count, failed);
    return failed != 0;
}

#endif
