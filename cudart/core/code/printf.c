/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers for the output of kernels.
 */
#include "cudart/core/code/printf.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/process.h"
#include "util/log.h"

#define LAUNCH_LIMIT_BYTES ((size_t)256 << 20)

/* Text of one ended launch. */
struct output {
    struct output *next;
    uint64_t number;
    struct crt_print_record *records; /* in order */
};

/* lock guards the list and the records of running launches; write_lock keeps two flushes from
 * mixing their lines. has_output spares the common synchronisation both locks. */
static struct {
    pthread_mutex_t lock;
    pthread_mutex_t write_lock;
    atomic_bool has_output;
    struct output *outputs; /* by launch number */
} buffers = {.lock = PTHREAD_MUTEX_INITIALIZER, .write_lock = PTHREAD_MUTEX_INITIALIZER};

/* Adds a record to one of the launch's lists. */
static void add_record(struct crt_launch *launch, struct crt_print_record **list, uint64_t block,
                       const char *text, size_t len)
{
    struct crt_print_record *record = malloc(sizeof *record + len);
    if (!record)
        return;
    record->block = block;
    record->len = len;
    memcpy(record->text, text, len);
    pthread_mutex_lock(&buffers.lock);
    bool fits = len <= LAUNCH_LIMIT_BYTES - launch->printed_bytes;
    if (fits) {
        record->next = *list;
        *list = record;
        launch->printed_bytes += len;
    }
    pthread_mutex_unlock(&buffers.lock);
    if (!fits) {
        free(record);
        pxr_log_once(&buffers, "a kernel has printed more than %zu MiB; the rest is dropped",
                     LAUNCH_LIMIT_BYTES >> 20);
    }
}

void crt_printf_add(struct crt_launch *launch, uint64_t block, const char *text, size_t len)
{
    add_record(launch, &launch->printed, block, text, len);
}

void crt_assert_add(struct crt_launch *launch, uint64_t block, const char *text, size_t len)
{
    add_record(launch, &launch->assertions, block, text, len);
}

/* Merges two lists of records, stable: those of `a` stay before their equals in `b`. */
static struct crt_print_record *merge(struct crt_print_record *a, struct crt_print_record *b)
{
    struct crt_print_record *head = NULL;
    struct crt_print_record **tail = &head;
    while (a && b) {
        struct crt_print_record **first = b->block < a->block ? &b : &a;
        *tail = *first;
        tail = &(*first)->next;
        *first = *tail;
    }
    *tail = a ? a : b;
    return head;
}

/* Sorts by block, keeping the order of equals. Bottom-up: lists of 1, 2, 4, … records. */
static struct crt_print_record *sort_records(struct crt_print_record *list)
{
    struct crt_print_record *bins[64] = {NULL};
    while (list) {
        struct crt_print_record *run = list;
        list = list->next;
        run->next = NULL;
        int i = 0;
        for (; bins[i]; i++) {
            run = merge(bins[i], run);
            bins[i] = NULL;
        }
        bins[i] = run;
    }
    struct crt_print_record *sorted = NULL;
    for (int i = 0; i < 64; i++)
        sorted = merge(bins[i], sorted);
    return sorted;
}

static struct crt_print_record *reverse(struct crt_print_record *list)
{
    struct crt_print_record *reversed = NULL;
    while (list) {
        struct crt_print_record *next = list->next;
        list->next = reversed;
        reversed = list;
        list = next;
    }
    return reversed;
}

static void free_records(struct crt_print_record *list)
{
    while (list) {
        struct crt_print_record *next = list->next;
        free(list);
        list = next;
    }
}

bool crt_assert_report(struct crt_launch *launch)
{
    if (!launch->assertions)
        return false;
    struct crt_print_record *records = sort_records(reverse(launch->assertions));
    launch->assertions = NULL;
    for (struct crt_print_record *r = records; r; r = r->next)
        fwrite(r->text, 1, r->len, stderr);
    free_records(records);
    return true;
}

void crt_printf_collect(struct crt_launch *launch)
{
    if (!launch->printed)
        return;
    struct crt_print_record *records = sort_records(reverse(launch->printed));
    launch->printed = NULL;
    struct output *output = malloc(sizeof *output);
    if (!output) {
        free_records(records);
        return;
    }
    output->number = launch->number;
    output->records = records;
    pthread_mutex_lock(&buffers.lock);
    struct output **link = &buffers.outputs;
    while (*link && (*link)->number < output->number)
        link = &(*link)->next;
    output->next = *link;
    *link = output;
    atomic_store(&buffers.has_output, true);
    pthread_mutex_unlock(&buffers.lock);
}

void crt_printf_drop(struct crt_launch *launch)
{
    free_records(launch->printed);
    free_records(launch->assertions);
    launch->printed = launch->assertions = NULL;
}

static void write_outputs(struct output *outputs)
{
    while (outputs) {
        struct output *next = outputs->next;
        for (struct crt_print_record *r = outputs->records; r; r = r->next)
            fwrite(r->text, 1, r->len, stdout);
        free_records(outputs->records);
        free(outputs);
        outputs = next;
    }
    fflush(stdout);
}

void crt_printf_flush(void)
{
    if (!atomic_load_explicit(&buffers.has_output, memory_order_acquire))
        return;
    pthread_mutex_lock(&buffers.write_lock);
    pthread_mutex_lock(&buffers.lock);
    struct output *outputs = buffers.outputs;
    buffers.outputs = NULL;
    atomic_store(&buffers.has_output, false);
    pthread_mutex_unlock(&buffers.lock);
    if (outputs)
        write_outputs(outputs);
    pthread_mutex_unlock(&buffers.write_lock);
}

/* Writes the output of kernels that nobody waited for. Not in the child of a fork, which does not
 * own it, and where locks may be held for ever. */
__attribute__((destructor)) static void flush_at_exit(void)
{
    if (crt_check_ready() == CRT_SUCCESS)
        crt_printf_flush();
}
