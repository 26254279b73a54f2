/* SPDX-License-Identifier: Apache-2.0
 *
 * The first refusal of a run. The line is made when it is noted, because a signal handler can only
 * write it.
 */
#include "util/refusal.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 1024

static struct {
    atomic_flag is_noted;
    atomic_bool is_told;
    atomic_size_t length; /* of line; 0: nothing to tell */
    char line[LINE_BYTES];
    pid_t process; /* the child of a fork has asked for nothing */
    int status;    /* the program's exit status */
} first = {.is_noted = ATOMIC_FLAG_INIT};

void pxr_refusal_tell(void)
{
    size_t length = atomic_load_explicit(&first.length, memory_order_acquire);
    if (!length || first.process != getpid() || atomic_exchange(&first.is_told, true))
        return;
    const char *text = first.line;
    while (length) {
        ssize_t done = write(STDERR_FILENO, text, length);
        if (done <= 0)
            return;
        text += done;
        length -= (size_t)done;
    }
}

static void on_abort(int signal_number)
{
    pxr_refusal_tell();
    /* The default action is back (SA_RESETHAND). */
    raise(signal_number);
}

/* Leaves the signal alone if the program handles it itself. */
static void watch_abort(void)
{
    struct sigaction action;
    if (sigaction(SIGABRT, NULL, &action) != 0 || (action.sa_flags & SA_SIGINFO) ||
        action.sa_handler != SIG_DFL)
        return;
    action = (struct sigaction){.sa_handler = on_abort, .sa_flags = SA_RESETHAND | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaction(SIGABRT, &action, NULL);
}

static void remember_status(int status, void *arg)
{
    (void)arg;
    first.status = status;
}

/* After the program's own exit handlers, so that the line comes last. */
__attribute__((destructor)) static void tell_at_exit(void)
{
    if (first.status)
        pxr_refusal_tell();
}

/* This library must not go before the process ends. */
static bool stay_loaded(void)
{
    Dl_info self;
    return dladdr(&first, &self) && self.dli_fname &&
           (dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) ||
            dlopen(NULL, RTLD_NOW));
}

void pxr_refusal_note(const char *format, ...)
{
    if (atomic_flag_test_and_set(&first.is_noted))
        return;
    va_list args;
    size_t used = (size_t)snprintf(first.line, sizeof first.line,
                                   "ptxrun: the program has failed; the first thing it needed that "
                                   "ptxrun does not have: ");
    va_start(args, format);
    vsnprintf(first.line + used, sizeof first.line - used - 1, format, args);
    va_end(args);
    size_t length = strlen(first.line);
    for (size_t i = 0; i < length; i++)
        if (first.line[i] == '\n')
            first.line[i] = ' ';
    first.line[length++] = '\n';
    first.process = getpid();
    atomic_store_explicit(&first.length, length, memory_order_release);
    watch_abort();
    if (stay_loaded())
        on_exit(remember_status, NULL);
}
