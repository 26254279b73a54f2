/* SPDX-License-Identifier: Apache-2.0
 *
 * One write(2) for each line, so that lines of several threads and processes never mix.
 */
#include "util/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 2048
#define ONCE_SLOTS 1024

static atomic_int current_level = PXR_LOG_WARNING;
static _Atomic(pxr_log_observer) current_observer;

/* Keys already seen by pxr_log_once, from the front. No lock: it might be held for ever in the
 * child of a fork. Full: further keys are not repeated either, they are dropped, because a flood is
 * what the function exists to prevent. */
static _Atomic(const void *) once_keys[ONCE_SLOTS];

void pxr_log_set_level(enum pxr_log_level level)
{
    atomic_store_explicit(&current_level, (int)level, memory_order_relaxed);
}

void pxr_log_observe(pxr_log_observer observer)
{
    atomic_store_explicit(&current_observer, observer, memory_order_release);
}

static pxr_log_observer observer_of(enum pxr_log_level level)
{
    return level <= PXR_LOG_WARNING ? atomic_load_explicit(&current_observer, memory_order_acquire)
                                    : NULL;
}

static bool is_enabled(enum pxr_log_level level)
{
    return (int)level <= atomic_load_explicit(&current_level, memory_order_relaxed);
}

static void write_all(const char *text, size_t len)
{
    while (len) {
        ssize_t done = write(STDERR_FILENO, text, len);
        if (done <= 0)
            return; /* nowhere to report it */
        text += done;
        len -= (size_t)done;
    }
}

static void log_line(enum pxr_log_level level, const char *format, va_list args)
{
    static const char *const prefixes[] = {
        [PXR_LOG_ERROR] = "ptxrun: error: ",
        [PXR_LOG_WARNING] = "ptxrun: warning: ",
        [PXR_LOG_INFO] = "ptxrun: ",
        [PXR_LOG_DEBUG] = "ptxrun: debug: ",
    };
    char line[LINE_BYTES];
    size_t used = (size_t)snprintf(line, sizeof line, "%s", prefixes[level]);
    int len = vsnprintf(line + used, sizeof line - used - 1, format, args);
    if (len < 0)
        return;
    pxr_log_observer observer = observer_of(level);
    if (observer)
        observer(level, line + used);
    if (!is_enabled(level))
        return;
    used = strlen(line);
    line[used++] = '\n';
    write_all(line, used);
}

void pxr_log(enum pxr_log_level level, const char *format, ...)
{
    if (!is_enabled(level) && !observer_of(level))
        return;
    va_list args;
    va_start(args, format);
    log_line(level, format, args);
    va_end(args);
}

static bool is_first_time(const void *key)
{
    for (size_t i = 0; i < ONCE_SLOTS; i++) {
        const void *seen = NULL;
        if (atomic_compare_exchange_strong(&once_keys[i], &seen, key))
            return true;
        if (seen == key)
            return false;
    }
    return false;
}

void pxr_log_once(const void *key, const char *format, ...)
{
    bool is_heard = is_enabled(PXR_LOG_WARNING) || observer_of(PXR_LOG_WARNING);
    if (!is_heard || !is_first_time(key))
        return;
    va_list args;
    va_start(args, format);
    log_line(PXR_LOG_WARNING, format, args);
    va_end(args);
}
