/* SPDX-License-Identifier: Apache-2.0
 *
 * See api_errors.h.
 */
#include "cudart/core/check/api_errors.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/error_names.h"
#include "cudart/core/base/host_frames.h"
#include "cudart/core/check/findings.h"

/* Programs that go on after so many errors in different places need not know of all of them. */
#define PENDING_MAX 256

#define TEXT_BYTES  512

/* What nobody has asked for. */
struct pending {
    enum crt_finding_kind kind;
    uint32_t error;
    uint64_t count;
    pthread_t thread;
    struct crt_frames frames;
    char what[TEXT_BYTES];
    char why[TEXT_BYTES];
};

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    struct pending pending[PENDING_MAX];
    size_t count;
    uint32_t fault; /* that no call has returned; 0: none */
} errors = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The error of a launch that has just been noted, and that the runtime will return. */
static _Thread_local uint32_t launch_error;

static bool is_same(const struct pending *a, const struct pending *b)
{
    return a->kind == b->kind && a->error == b->error && pthread_equal(a->thread, b->thread) &&
           a->frames.count == b->frames.count &&
           memcmp(a->frames.at, b->frames.at, (size_t)a->frames.count * sizeof *a->frames.at) == 0;
}

static void add_locked(const struct pending *added)
{
    for (size_t i = 0; i < errors.count; i++)
        if (is_same(&errors.pending[i], added)) {
            errors.pending[i].count++;
            return;
        }
    if (errors.count < PENDING_MAX)
        errors.pending[errors.count++] = *added;
}

static void add(struct pending *added)
{
    added->count = 1;
    added->thread = pthread_self();
    crt_frames_take(&added->frames);
    pthread_mutex_lock(&errors.lock);
    add_locked(added);
    pthread_mutex_unlock(&errors.lock);
}

void crt_api_error(uint32_t error)
{
    struct pending added = {.kind = CRT_FINDING_IGNORED_ERROR, .error = error};
    if (!crt_checks_api())
        return;
    bool is_known = error == launch_error;
    launch_error = 0;
    if (is_known)
        return;
    snprintf(added.why, sizeof added.why, "%s", crt_error_text(error));
    add(&added);
    crt_api_fault_told();
}

void crt_api_launch_error(uint32_t error, const char *what, const char *why)
{
    struct pending added = {.kind = CRT_FINDING_LAUNCH_FAILED, .error = error};
    if (!crt_checks_api())
        return;
    launch_error = error;
    snprintf(added.what, sizeof added.what, "%s", what);
    snprintf(added.why, sizeof added.why, "%s: %s", crt_error_text(error), why);
    add(&added);
}

/* Forgets those of the thread, or of an error: the other is 0. */
static void forget(bool is_of_thread, uint32_t error)
{
    size_t kept = 0;
    pthread_mutex_lock(&errors.lock);
    for (size_t i = 0; i < errors.count; i++) {
        const struct pending *pending = &errors.pending[i];
        bool is_meant = is_of_thread ? pthread_equal(pending->thread, pthread_self()) != 0
                                     : pending->error == error;
        if (!is_meant)
            errors.pending[kept++] = *pending;
    }
    errors.count = kept;
    pthread_mutex_unlock(&errors.lock);
}

void crt_api_error_asked(void)
{
    if (crt_checks_api())
        forget(true, 0);
}

void crt_api_error_named(uint32_t error)
{
    if (crt_checks_api())
        forget(false, error);
}

static void set_fault(uint32_t error)
{
    pthread_mutex_lock(&errors.lock);
    errors.fault = error;
    pthread_mutex_unlock(&errors.lock);
}

void crt_api_fault(uint32_t error)
{
    if (crt_checks_api())
        set_fault(error);
}

void crt_api_fault_told(void)
{
    if (crt_checks_api())
        set_fault(0);
}

/* ---- the end ---- */

static void add_finding(const struct pending *pending)
{
    struct crt_host_place place = crt_frames_source(&pending->frames);
    char *call = crt_frames_text(&pending->frames);
    char what[TEXT_BYTES];
    const char *function = crt_frames_function(&pending->frames);
    snprintf(what, sizeof what, "%s of %s", crt_error_name(pending->error), function);
    struct crt_finding finding = {.kind = pending->kind,
                                  .access = pending->what[0] ? pending->what : what,
                                  .where = pending->why,
                                  .call = call,
                                  .function = function,
                                  .file = place.file,
                                  .line = place.line,
                                  .is_refused = true};
    for (uint64_t i = 0; i < pending->count; i++)
        if (!crt_finding_again(&finding))
            crt_finding_add(&finding);
    free(call);
}

static void add_fault(uint32_t error)
{
    char what[TEXT_BYTES];
    snprintf(what, sizeof what, "%s of a kernel", crt_error_name(error));
    crt_finding_add(&(struct crt_finding){
        .kind = CRT_FINDING_IGNORED_ERROR,
        .access = what,
        .where = "the program has called no function since that would have returned it",
        .function = "exit"});
}

void crt_api_errors_end(int exit_code)
{
    if (!crt_checks_api())
        return;
    for (size_t i = 0; i < errors.count; i++)
        if (exit_code == 0 || errors.pending[i].kind == CRT_FINDING_LAUNCH_FAILED)
            add_finding(&errors.pending[i]);
    if (errors.fault)
        add_fault(errors.fault);
}
