/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/code/heap_leaks.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "cudart/core/base/process.h"
#include "cudart/core/check/call_finding.h"
#include "cudart/core/check/end.h"
#include "cudart/core/check/findings.h"
#include "util/options.h"
#include "util/readable_name.h"

struct crt_heap_user {
    char *kernel;
    uint64_t blocks; /* that it has taken and no kernel has freed … */
    uint64_t bytes;  /* … as they were asked for */
    struct crt_heap_user *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list */
static struct crt_heap_user *users;

static bool is_on(void)
{
    return pxr_options_get()->leak_check && crt_check_is_on();
}

static struct crt_heap_user *make_locked(const char *kernel)
{
    struct crt_heap_user *user = calloc(1, sizeof *user);
    char *name = strdup(kernel);
    if (!user || !name) {
        free(user);
        free(name);
        return NULL;
    }
    user->kernel = name;
    LL_PREPEND(users, user);
    return user;
}

struct crt_heap_user *crt_heap_user(const char *kernel)
{
    struct crt_heap_user *user;
    if (!is_on())
        return NULL;
    pthread_mutex_lock(&lock);
    LL_FOREACH(users, user)
    if (strcmp(user->kernel, kernel) == 0)
        break;
    if (!user)
        user = make_locked(kernel);
    pthread_mutex_unlock(&lock);
    return user;
}

void crt_heap_note_taken(struct crt_heap_user *user, size_t size_bytes)
{
    if (!user)
        return;
    user->blocks++;
    user->bytes += size_bytes;
}

void crt_heap_note_freed(struct crt_heap_user *user, size_t size_bytes)
{
    if (!user)
        return;
    user->blocks--;
    user->bytes -= size_bytes;
}

static void report(const struct crt_heap_user *user)
{
    char access[128];
    char where[512];
    char *readable = pxr_readable_name(user->kernel);
    snprintf(access, sizeof access, "%llu bytes of the kernels' heap in %llu block%s",
             (unsigned long long)user->bytes, (unsigned long long)user->blocks,
             user->blocks == 1 ? "" : "s");
    snprintf(where, sizeof where, "allocated by %s", readable ? readable : user->kernel);
    crt_call_finding_add(
        &(struct crt_finding){
            .kind = CRT_FINDING_LEAK, .access = access, .where = where, .bytes = user->bytes},
        &(struct crt_frames){0});
    free(readable);
}

__attribute__((destructor(CRT_CHECK_LAST_FINDINGS))) static void end(void)
{
    const struct crt_heap_user *user;
    if (crt_check_ready() != CRT_SUCCESS || !is_on())
        return;
    LL_FOREACH(users, user)
    if (user->blocks > 0)
        report(user);
}
