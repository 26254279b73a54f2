/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the tests of a Criterion program, each in a process forked from this one, which is loaded
 * and has run nothing yet. Criterion's own runner starts the program anew for each test: where LLVM
 * or a sanitizer's runtime has to be loaded, that takes more time than most tests do. Nor does it
 * start under ThreadSanitizer. The rest, as the texts of assertions, is Criterion's: a program's
 * functions come before those of a shared library.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include "tests/support/leaks.h"

/* LeakSanitizer's; a weak one is NULL in programs without it. */
__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);

/* How the process of a test ends that came to its end. One that calls exit() itself did not. */
enum { TEST_PASSED = 100, TEST_FAILED, TEST_SKIPPED, MAX_JOBS = 64 };

/* The linker makes these for a section of such a name. */
extern struct criterion_test *__start_cr_tst[];
extern struct criterion_test *__stop_cr_tst[];
extern struct criterion_suite *__start_cr_sts[] __attribute__((weak));
extern struct criterion_suite *__stop_cr_sts[] __attribute__((weak));

struct process {
    pid_t id; /* 0: none */
    const struct criterion_test *test;
};

static struct process processes[MAX_JOBS];
static int jobs = 1;
static int failures;
static FILE *reports; /* where stderr went at first */

/* Of the one test that a forked process runs. */
static const struct criterion_test *test;
static const struct criterion_suite *suite;
static _Atomic(int) outcome = TEST_PASSED;
static bool is_over;
static bool is_forgiven; /* what it loses */
static jmp_buf end;

void criterion_send_assert(struct criterion_assert_stats *stats)
{
    if (stats->passed)
        return;
    fprintf(reports, "%s:%u: %s\n", stats->file, stats->line, stats->message);
    outcome = TEST_FAILED;
}

void criterion_abort_test(void)
{
    is_over = true;
    longjmp(end, 1);
}

void criterion_skip_test(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s/%s is skipped: ", test->category, test->name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    outcome = TEST_SKIPPED;
    criterion_abort_test();
}

/* Lines of several threads go behind each other: for a memory file only O_APPEND promises that. */
static FILE *redirect(FILE *stream)
{
    int file = memfd_create("output", MFD_CLOEXEC);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    FILE *from_start = fopen(path, "re");
    if (!from_start || fcntl(file, F_SETFL, O_APPEND) != 0 || dup2(file, fileno(stream)) < 0)
        abort();
    close(file);
    return from_start;
}

static FILE *output;
static FILE *errors;

void cr_redirect_stdout(void)
{
    output = redirect(stdout);
}

void cr_redirect_stderr(void)
{
    errors = redirect(stderr);
}

FILE *cr_get_redirected_stderr(void)
{
    return errors;
}

int cr_stdout_match_str(const char *text)
{
    fflush(stdout);
    return cr_file_match_str(output, text);
}

int cr_stderr_match_str(const char *text)
{
    return cr_file_match_str(errors, text);
}

static void call(void (*function)(void))
{
    if (function && setjmp(end) == 0)
        function();
}

/* Test() makes a function of each test that calls these three. */
void criterion_internal_test_setup(void)
{
    if (suite)
        call(suite->data->init);
    if (!is_over)
        call(test->data->init);
}

void criterion_internal_test_main(void (*function)(void))
{
    if (!is_over)
        call(function);
}

void criterion_internal_test_teardown(void)
{
    call(test->data->fini);
    if (suite)
        call(suite->data->fini);
}

/* The sanitizer looks when a process exits. */
void forgive_leaks(void)
{
    is_forgiven = true;
}

static const struct criterion_suite *suite_of(const struct criterion_test *wanted)
{
    for (struct criterion_suite **at = __start_cr_sts; at < __stop_cr_sts; at++)
        if (strcmp((*at)->name, wanted->category) == 0)
            return *at;
    return NULL;
}

/* The kernel ends this process then, whatever it does with signals. */
static void end_after(double seconds)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec span = {.it_value = {.tv_sec = (time_t)seconds, .tv_nsec = 1}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &span, NULL) != 0)
        abort();
}

_Noreturn static void run_here(const struct criterion_test *chosen)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    test = chosen;
    suite = suite_of(chosen);
    *(const struct criterion_test **)(uintptr_t)&criterion_current_test = chosen;
    if (chosen->data->timeout > 0)
        end_after(chosen->data->timeout);
    chosen->test();
    if (is_forgiven) {
        fflush(NULL);
        _exit(outcome);
    }
    exit(outcome);
}

static bool is_wanted_end(const struct criterion_test *ended, int status)
{
    if (ended->data->signal)
        return WIFSIGNALED(status) && WTERMSIG(status) == ended->data->signal;
    return WIFEXITED(status) &&
           (WEXITSTATUS(status) == TEST_PASSED || WEXITSTATUS(status) == TEST_SKIPPED);
}

static void take_end(struct process *process, int status)
{
    if (!is_wanted_end(process->test, status)) {
        const char *how = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "";
        fprintf(stderr, "%s/%s failed: status %#x %s\n", process->test->category,
                process->test->name, (unsigned)status, how);
        failures++;
    }
    process->id = 0;
}

static bool wait_for_one(void)
{
    int status;
    pid_t id;
    do
        id = wait(&status);
    while (id < 0 && errno == EINTR);
    for (int i = 0; id > 0 && i < jobs; i++)
        if (processes[i].id == id)
            take_end(&processes[i], status);
    return id > 0;
}

static struct process *free_process(void)
{
    for (;;) {
        for (int i = 0; i < jobs; i++)
            if (processes[i].id == 0)
                return &processes[i];
        if (!wait_for_one())
            abort();
    }
}

/* Without the handlers of forks: a driver refuses to work in a child of the process it is in. */
static void start(const struct criterion_test *chosen)
{
    struct process *process = free_process();
    fflush(NULL);
    process->test = chosen;
    process->id = _Fork();
    if (process->id < 0)
        abort();
    if (process->id == 0)
        run_here(chosen);
}

/* LeakSanitizer, which each test ends with, reads ten megabytes of zeros: what is mapped now need
 * not be mapped again in every process. */
static void map_what_leaks_are_sought_in(void)
{
    if (__lsan_do_recoverable_leak_check)
        __lsan_do_recoverable_leak_check();
}

static bool fits(const struct criterion_test *candidate, const char *pattern)
{
    char name[512];
    snprintf(name, sizeof name, "%s/%s", candidate->category, candidate->name);
    return fnmatch(pattern, name, 0) == 0;
}

int main(int argc, char **argv)
{
    const char *pattern = "*";
    int count = 0;
    for (int i = 1; i < argc; i++) {
        if (sscanf(argv[i], "-j%d", &jobs) == 1 && jobs > 0 && jobs <= MAX_JOBS)
            continue;
        if (strcmp(argv[i], "--filter") == 0 && i + 1 < argc) {
            pattern = argv[++i];
            continue;
        }
        fprintf(stderr, "usage: %s [-jJOBS] [--filter SUITE/TEST]\n", argv[0]);
        return 2;
    }
    reports = fdopen(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0), "w");
    if (!reports)
        abort();
    setbuf(reports, NULL);
    map_what_leaks_are_sought_in();
    for (struct criterion_test **at = __start_cr_tst; at < __stop_cr_tst; at++) {
        if (!fits(*at, pattern))
            continue;
        count++;
        start(*at);
    }
    while (wait_for_one())
        ;
    printf("%d tests, %d failed\n", count, failures);
    return failures != 0 || count == 0;
}
