/* SPDX-License-Identifier: Apache-2.0
 *
 * The places that were found.
 */
#include "cudart/core/check/findings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/check/filter.h"
#include "cudart/core/check/print.h"
#include "cudart/core/check/report_file.h"
#include "cudart/core/check/suppress.h"
#include "util/options.h"
#include "util/readable_name.h"

const struct crt_finding_info crt_finding_table[CRT_FINDING_KINDS] = {
#define FINDING(ID, rule, title, help) [CRT_FINDING_##ID] = {rule, title, help},
#include "cudart/core/check/findings.def"
#undef FINDING
};

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    struct crt_found *found;
    size_t count;
    size_t cap;
} findings = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool crt_check_is_on(void)
{
    return pxr_options_get()->check != 0;
}

bool crt_checks_device(void)
{
    return pxr_option_checks(PXR_CHECK_DEVICE);
}

bool crt_checks_written(void)
{
    return pxr_option_checks(PXR_CHECK_INIT);
}

bool crt_checks_memory(void)
{
    return pxr_option_checks(PXR_CHECK_MEMORY) || crt_checks_device();
}

bool crt_checks_races(void)
{
    return pxr_option_checks(PXR_CHECK_RACE);
}

bool crt_checks_meetings(void)
{
    return pxr_option_checks(PXR_CHECK_SYNC);
}

bool crt_checks_numbers(void)
{
    return pxr_option_checks(PXR_CHECK_NUMBERS);
}

bool crt_checks_api(void)
{
    return pxr_option_checks(PXR_CHECK_API);
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_place(const struct crt_finding *a, const struct crt_finding *b)
{
    return a->kind == b->kind && a->ptx_line == b->ptx_line && is_same_text(a->ptx, b->ptx) &&
           is_same_text(a->kernel, b->kernel) && is_same_text(a->call, b->call);
}

static struct crt_found *find_locked(const struct crt_finding *finding)
{
    for (size_t i = 0; i < findings.count; i++)
        if (is_same_place(&findings.found[i].first, finding))
            return &findings.found[i];
    return NULL;
}

static bool make_room_locked(void)
{
    if (findings.count < findings.cap)
        return true;
    size_t cap = findings.cap ? 2 * findings.cap : 16;
    struct crt_found *found = realloc(findings.found, cap * sizeof *found);
    if (!found)
        return false;
    findings.found = found;
    findings.cap = cap;
    return true;
}

/* Texts that cannot be kept are as if nobody knew them. */
static const char *keep(const char *text)
{
    return text ? strdup(text) : NULL;
}

static struct crt_found *add_locked(const struct crt_finding *finding)
{
    if (!make_room_locked())
        return NULL;
    struct crt_found *made = &findings.found[findings.count++];
    *made = (struct crt_found){.first = *finding, .count = 0};
    made->readable = finding->kernel ? pxr_readable_name(finding->kernel) : NULL;
    made->first.kernel = keep(finding->kernel);
    made->first.call = keep(finding->call);
    made->first.access = keep(finding->access);
    made->first.where = keep(finding->where);
    made->first.frames = keep(finding->frames);
    made->first.ptx = keep(finding->ptx);
    made->first.file = keep(finding->file);
    made->is_hidden = !crt_filter_lets_pass(made);
    made->is_suppressed = !made->is_hidden && crt_suppressions_have(made);
    made->is_hidden = made->is_hidden || made->is_suppressed;
    return made;
}

static void count_locked(struct crt_found *known, const struct crt_finding *finding)
{
    known->count++;
    known->bytes += finding->bytes;
}

bool crt_finding_again(const struct crt_finding *finding)
{
    pthread_mutex_lock(&findings.lock);
    struct crt_found *known = find_locked(finding);
    if (known)
        count_locked(known, finding);
    pthread_mutex_unlock(&findings.lock);
    return known != NULL;
}

/* Puts those that count first. */
static size_t sort_locked(void)
{
    size_t shown = 0;
    for (size_t i = 0; i < findings.count; i++) {
        struct crt_found moved = findings.found[i];
        if (moved.is_hidden)
            continue;
        memmove(&findings.found[shown + 1], &findings.found[shown], (i - shown) * sizeof moved);
        findings.found[shown++] = moved;
    }
    return shown;
}

void crt_finding_add(const struct crt_finding *finding)
{
    pthread_mutex_lock(&findings.lock);
    struct crt_found *known = find_locked(finding);
    bool is_new = !known;
    if (is_new)
        known = add_locked(finding);
    if (known)
        count_locked(known, finding);
    struct crt_found copy = known ? *known : (struct crt_found){.first = *finding, .count = 1};
    if (is_new && !copy.is_hidden)
        crt_report_write_so_far(findings.found, sort_locked());
    pthread_mutex_unlock(&findings.lock);
    if (is_new && !copy.is_hidden)
        crt_print_finding(&copy);
}

const struct crt_found *crt_findings(size_t *count)
{
    pthread_mutex_lock(&findings.lock);
    *count = sort_locked();
    const struct crt_found *found = findings.found;
    pthread_mutex_unlock(&findings.lock);
    return found;
}

uint64_t crt_findings_suppressed(void)
{
    uint64_t count = 0;
    pthread_mutex_lock(&findings.lock);
    for (size_t i = 0; i < findings.count; i++)
        count += findings.found[i].is_suppressed ? findings.found[i].count : 0;
    pthread_mutex_unlock(&findings.lock);
    return count;
}
