/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of live objects, and the report at exit in the form that CUDA's own checker has.
 */
#include "cudart/core/base/leak.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM            1
#define uthash_nonfatal_oom(element) (is_added = false)
#include <uthash.h>

#include "cudart/core/base/host_frames.h"
#include "cudart/core/base/process.h"
#include "util/options.h"

struct live {
    const void *address;
    const char *noun;
    size_t size_bytes;
    uint64_t number; /* in the order of creation */
    struct crt_frames frames;
    UT_hash_handle hh;
};

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    struct live *table;
    uint64_t next_number;
} leaks = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Messages of --check say where objects were made, too. */
static bool is_wanted(void)
{
    return pxr_options_get()->leak_check || pxr_options_get()->check != 0;
}

void crt_leak_note(const char *noun, const void *address, size_t size_bytes)
{
    if (!is_wanted())
        return;
    struct live *made = malloc(sizeof *made);
    if (!made)
        return;
    *made = (struct live){.address = address, .noun = noun, .size_bytes = size_bytes};
    crt_frames_take(&made->frames);
    bool is_added = true;
    pthread_mutex_lock(&leaks.lock);
    made->number = leaks.next_number++;
    HASH_ADD_PTR(leaks.table, address, made);
    pthread_mutex_unlock(&leaks.lock);
    if (!is_added)
        free(made);
}

void crt_leak_forget(const void *address)
{
    if (!is_wanted())
        return;
    struct live *found;
    pthread_mutex_lock(&leaks.lock);
    HASH_FIND_PTR(leaks.table, &address, found);
    if (found)
        HASH_DEL(leaks.table, found);
    pthread_mutex_unlock(&leaks.lock);
    free(found);
}

/* "1,024" */
static const char *with_commas(size_t number, char text[32])
{
    char *end = text + 31;
    *end = '\0';
    int digits = 0;
    do {
        if (digits > 0 && digits % 3 == 0)
            *--end = ',';
        *--end = (char)('0' + number % 10);
        number /= 10;
        digits++;
    } while (number);
    return end;
}

static int by_number(const struct live *a, const struct live *b)
{
    return (a->number > b->number) - (a->number < b->number);
}

static void write_leak(FILE *out, const struct live *live)
{
    char text[32];
    if (live->size_bytes)
        fprintf(out, "========= Leaked %s bytes at 0x%zx (%s)\n",
                with_commas(live->size_bytes, text), (size_t)(uintptr_t)live->address, live->noun);
    else
        fprintf(out, "========= Leaked %s at 0x%zx\n", live->noun,
                (size_t)(uintptr_t)live->address);
    crt_frames_write(out, "=========     Host Frame: ", &live->frames);
    fprintf(out, "=========\n");
}

bool crt_leak_frames(const void *address, struct crt_frames *frames)
{
    struct live *found;
    pthread_mutex_lock(&leaks.lock);
    HASH_FIND_PTR(leaks.table, &address, found);
    if (found)
        *frames = found->frames;
    pthread_mutex_unlock(&leaks.lock);
    return found != NULL;
}

void crt_leak_each(crt_leak_fn each)
{
    pthread_mutex_lock(&leaks.lock);
    HASH_SORT(leaks.table, by_number);
    for (const struct live *live = leaks.table; live; live = live->hh.next)
        each(live->noun, live->address, live->size_bytes, &live->frames);
    pthread_mutex_unlock(&leaks.lock);
}

size_t crt_leak_report(FILE *out)
{
    char text[32];
    size_t bytes = 0;
    size_t allocations = 0;
    size_t others = 0;
    pthread_mutex_lock(&leaks.lock);
    HASH_SORT(leaks.table, by_number);
    for (const struct live *live = leaks.table; live; live = live->hh.next) {
        write_leak(out, live);
        bytes += live->size_bytes;
        if (live->size_bytes)
            allocations++;
        else
            others++;
    }
    pthread_mutex_unlock(&leaks.lock);
    fprintf(out, "========= LEAK SUMMARY: %s bytes leaked in %zu allocations",
            with_commas(bytes, text), allocations);
    if (others)
        fprintf(out, "; %zu other objects leaked", others);
    fprintf(out, "\n");
    return allocations + others;
}

/* An ELF destructor, not atexit: it runs after the program's own handlers and its runtime's. With
 * --check the leaks are findings. */
__attribute__((destructor)) static void report_at_exit(void)
{
    const struct pxr_options *options = pxr_options_get();
    if (crt_check_ready() == CRT_SUCCESS && options->leak_check && !options->check)
        crt_leak_report(stderr);
}
