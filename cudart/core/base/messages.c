/* SPDX-License-Identifier: Apache-2.0
 *
 * A ring of the newest messages of the log.
 */
#include "cudart/core/base/messages.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/log.h"

#define MESSAGES_KEPT 98
#define MESSAGE_BYTES 256
#define LISTENERS_MAX 16
#define LOST_MESSAGES "[older messages are left out]\n"
#define LOST_BYTES    (sizeof LOST_MESSAGES - 1)

_Static_assert((MESSAGE_BYTES + 1) * MESSAGES_KEPT + LOST_BYTES < CRT_MESSAGES_BYTES,
               "everything fits the largest buffer");

struct crt_listener {
    crt_message_fn fn; /* NULL: free */
    void *data;
};

/* Set in the child of a fork, where another thread may have held the lock for ever. */
static atomic_bool is_child;

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    unsigned count; /* of all messages ever */
    char texts[MESSAGES_KEPT][MESSAGE_BYTES];
    struct crt_listener listeners[LISTENERS_MAX];
} messages = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* As CUDA writes them: time, thread, source, severity. */
static void format_message(enum pxr_log_level level, const char *text, char line[MESSAGE_BYTES])
{
    struct timespec now;
    struct tm local;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    snprintf(line, MESSAGE_BYTES, "[%02d:%02d:%02d.%03d][%d][CUDA][%c] %s", local.tm_hour,
             local.tm_min, local.tm_sec, (int)(now.tv_nsec / 1000000), (int)gettid(),
             level == PXR_LOG_ERROR ? 'E' : 'W', text);
    for (char *c = line; *c; c++)
        if (*c == '\n')
            *c = ' ';
}

static void hear(enum pxr_log_level level, const char *text)
{
    char line[MESSAGE_BYTES];
    struct crt_listener listeners[LISTENERS_MAX];
    if (atomic_load_explicit(&is_child, memory_order_relaxed))
        return;
    format_message(level, text, line);
    pthread_mutex_lock(&messages.lock);
    memcpy(messages.texts[messages.count++ % MESSAGES_KEPT], line, sizeof line);
    memcpy(listeners, messages.listeners, sizeof listeners);
    pthread_mutex_unlock(&messages.lock);
    for (int i = 0; i < LISTENERS_MAX; i++)
        if (listeners[i].fn)
            listeners[i].fn(listeners[i].data, level == PXR_LOG_ERROR ? 0 : 1, line, strlen(line));
}

static void mark_child(void)
{
    atomic_store_explicit(&is_child, true, memory_order_relaxed);
}

enum crt_result crt_messages_ready(void)
{
    return atomic_load_explicit(&is_child, memory_order_relaxed) ? CRT_NOT_INITIALIZED
                                                                 : CRT_SUCCESS;
}

/* Runs before the first message can be logged. */
__attribute__((constructor)) static void start_hearing(void)
{
    pthread_atfork(NULL, NULL, mark_child);
    pxr_log_observe(hear);
}

enum crt_result crt_messages_listen(crt_message_fn fn, void *data, struct crt_listener **listener)
{
    struct crt_listener *found = NULL;
    pthread_mutex_lock(&messages.lock);
    for (int i = 0; i < LISTENERS_MAX && !found; i++)
        if (!messages.listeners[i].fn)
            found = &messages.listeners[i];
    if (found)
        *found = (struct crt_listener){fn, data};
    pthread_mutex_unlock(&messages.lock);
    *listener = found;
    return found ? CRT_SUCCESS : CRT_OUT_OF_MEMORY;
}

enum crt_result crt_messages_unlisten(struct crt_listener *listener)
{
    enum crt_result result = CRT_INVALID_VALUE;
    pthread_mutex_lock(&messages.lock);
    for (int i = 0; i < LISTENERS_MAX; i++) {
        if (&messages.listeners[i] == listener && listener->fn) {
            *listener = (struct crt_listener){0};
            result = CRT_SUCCESS;
        }
    }
    pthread_mutex_unlock(&messages.lock);
    return result;
}

unsigned crt_messages_tail(void)
{
    pthread_mutex_lock(&messages.lock);
    unsigned count = messages.count;
    pthread_mutex_unlock(&messages.lock);
    return count;
}

/* The first message of the newest ones that fit into so many bytes. */
static unsigned first_that_fits(unsigned first, size_t bytes)
{
    unsigned at = messages.count;
    while (at != first) {
        size_t len = strlen(messages.texts[(at - 1) % MESSAGES_KEPT]) + 1;
        if (len > bytes)
            break;
        bytes -= len;
        at--;
    }
    return at;
}

static size_t copy_locked(unsigned first, bool is_short, char *buffer, size_t cap)
{
    size_t room = cap - 1;
    unsigned at = first_that_fits(first, room);
    if (at != first || is_short) {
        is_short = true;
        at = room > LOST_BYTES ? first_that_fits(first, room - LOST_BYTES) : messages.count;
    }
    size_t used = 0;
    if (at == messages.count)
        return 0;
    if (is_short) {
        memcpy(buffer, LOST_MESSAGES, LOST_BYTES);
        used = LOST_BYTES;
    }
    for (; at != messages.count; at++) {
        const char *text = messages.texts[at % MESSAGES_KEPT];
        size_t len = strlen(text);
        memcpy(buffer + used, text, len);
        used += len;
        buffer[used++] = '\n';
    }
    return used;
}

size_t crt_messages_copy(unsigned *from, char *buffer, size_t cap, bool *is_too_small)
{
    pthread_mutex_lock(&messages.lock);
    unsigned first = from ? *from : 0;
    unsigned kept = messages.count < MESSAGES_KEPT ? messages.count : MESSAGES_KEPT;
    if (first > messages.count)
        first = messages.count;
    bool is_short = messages.count - first > kept;
    if (is_short)
        first = messages.count - kept;
    size_t len = cap ? copy_locked(first, is_short && from, buffer, cap) : 0;
    *is_too_small = len == 0 && first != messages.count;
    if (from && !*is_too_small)
        *from = messages.count;
    pthread_mutex_unlock(&messages.lock);
    if (cap)
        buffer[len] = '\0';
    return len;
}
