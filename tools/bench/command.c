/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a command to its end and measures it.
 */
#include "tools/bench/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/bench/bench_measure.h"

static volatile sig_atomic_t interrupted;

static void note_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

void process_stop_on_interrupt(void)
{
    // The second one finds the default again and ends this program.
    struct sigaction action = {.sa_handler = note_interrupt, .sa_flags = SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool process_is_interrupted(void)
{
    return interrupted != 0;
}

/* ---- the child ---- */

static bool redirect(int stream, const char *file)
{
    int opened = open(file ? file : "/dev/null",
                      stream == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC, 0600);
    return opened >= 0 && dup2(opened, stream) >= 0;
}

static void become(const struct process_wish *wish)
{
    setpgid(0, 0); // the limit ends what it starts, too
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (char *const *at = wish->variables; at && *at; at++)
        putenv(*at);
    bool is_ready = redirect(STDIN_FILENO, NULL) && redirect(STDOUT_FILENO, wish->out_file) &&
                    redirect(STDERR_FILENO, wish->err_file) &&
                    (!wish->folder || chdir(wish->folder) == 0);
    if (is_ready)
        execvp(wish->command[0], wish->command);
    _exit(127);
}

/* ---- the parent ---- */

/* Waits until the child ends, the time is over or somebody interrupts. */
static enum process_end wait_for(int child_fd, double start_us, unsigned limit_s)
{
    for (;;) {
        double left_ms = limit_s * 1e3 - (bench_now_us() - start_us) * 1e-3;
        if (left_ms <= 0)
            return PROCESS_TIMED_OUT;
        struct pollfd wanted = {.fd = child_fd, .events = POLLIN};
        int ready = poll(&wanted, 1, left_ms < 1e6 ? (int)left_ms + 1 : 1000000);
        if (ready > 0)
            return PROCESS_EXITED;
        if (interrupted)
            return PROCESS_INTERRUPTED;
        if (ready < 0 && errno != EINTR)
            return PROCESS_NOT_STARTED;
    }
}

static double milliseconds(const struct timeval *time)
{
    return (double)time->tv_sec * 1e3 + (double)time->tv_usec * 1e-3;
}

/* Takes what is left of the child. */
static void reap(pid_t child, struct process_outcome *outcome)
{
    struct rusage usage = {0};
    int status = 0;
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
        continue;
    outcome->cpu_ms = milliseconds(&usage.ru_utime) + milliseconds(&usage.ru_stime);
    if (outcome->end != PROCESS_EXITED)
        return;
    outcome->end = WIFEXITED(status) ? PROCESS_EXITED : PROCESS_SIGNALLED;
    outcome->code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
}

void process_run(const struct process_wish *wish, struct process_outcome *outcome)
{
    *outcome = (struct process_outcome){.end = PROCESS_NOT_STARTED};
    fflush(NULL);
    double start_us = bench_now_us();
    pid_t child = fork();
    if (child == 0)
        become(wish);
    int child_fd = child > 0 ? pidfd_open(child, 0) : -1;
    if (child <= 0)
        return;
    outcome->end =
        child_fd >= 0 ? wait_for(child_fd, start_us, wish->limit_s) : PROCESS_NOT_STARTED;
    outcome->wall_ms = (bench_now_us() - start_us) * 1e-3;
    if (outcome->end != PROCESS_EXITED) {
        kill(-child, SIGKILL);
        kill(child, SIGKILL); // in case that it had no group of its own yet
    }
    reap(child, outcome);
    if (child_fd >= 0)
        close(child_fd);
}

void process_end_text(const struct process_outcome *outcome, char text[PROCESS_TEXT_BYTES])
{
    static const char *const others[] = {[PROCESS_TIMED_OUT] = "ended by the time limit",
                                         [PROCESS_INTERRUPTED] = "interrupted",
                                         [PROCESS_NOT_STARTED] = "could not be started"};
    if (outcome->end == PROCESS_EXITED)
        snprintf(text, PROCESS_TEXT_BYTES, "exit status %d", outcome->code);
    else if (outcome->end == PROCESS_SIGNALLED)
        snprintf(text, PROCESS_TEXT_BYTES, "ended by signal %d (%s)", outcome->code,
                 strsignal(outcome->code));
    else
        snprintf(text, PROCESS_TEXT_BYTES, "%s", others[outcome->end]);
}
