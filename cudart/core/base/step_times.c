/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/base/step_times.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "jit/jit.h"
#include "util/readable_name.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct jit_step_times sums; /* under lock */
static uint64_t kernels;           /* under lock */

static uint64_t total_ns(const struct jit_step_times *times)
{
    uint64_t ns = 0;
    for (uint32_t i = 0; i < times->count; i++)
        ns += times->steps[i].ns;
    return ns;
}

/* Written at once, so that lines of several threads do not mix. */
static void print(const char *title, const struct jit_step_times *times)
{
    char *text = NULL;
    size_t text_bytes = 0;
    FILE *out = open_memstream(&text, &text_bytes);
    if (!out)
        return;
    uint64_t all_ns = total_ns(times);
    fprintf(out, "ptxrun: steps of %s: %.2f ms\n", title, (double)all_ns / 1e6);
    fprintf(out, "ptxrun:   %-20s %6s %10s %6s %12s %12s\n", "step", "runs", "ms", "%",
            "instructions", "behind it");
    for (uint32_t i = 0; i < times->count; i++) {
        const struct jit_step_time *step = &times->steps[i];
        fprintf(out, "ptxrun:   %-20s %6" PRIu32 " %10.3f %6.1f %12" PRIu64 " %12" PRIu64 "\n",
                step->name, step->count, (double)step->ns / 1e6,
                all_ns ? 100 * (double)step->ns / (double)all_ns : 0, step->before, step->after);
    }
    if (fclose(out) == 0)
        fwrite(text, 1, text_bytes, stderr);
    free(text);
}

static struct jit_step_time *find_sum(const char *name)
{
    for (uint32_t i = 0; i < sums.count; i++)
        if (sums.steps[i].name == name)
            return &sums.steps[i];
    struct jit_step_time *steps = realloc(sums.steps, (sums.count + 1) * sizeof *steps);
    if (!steps)
        return NULL;
    sums.steps = steps;
    steps[sums.count] = (struct jit_step_time){.name = name};
    return &steps[sums.count++];
}

static void add(const struct jit_step_time *step)
{
    struct jit_step_time *sum = find_sum(step->name);
    if (!sum)
        return;
    sum->count += step->count;
    sum->ns += step->ns;
    sum->before += step->before;
    sum->after += step->after;
}

void crt_step_times_add(const char *kernel, const struct jit_step_times *times)
{
    if (times->count == 0)
        return;
    char title[256];
    char *name = pxr_readable_name(kernel);
    snprintf(title, sizeof title, "kernel '%s'", name ? name : kernel);
    free(name);
    print(title, times);
    pthread_mutex_lock(&lock);
    kernels++;
    for (uint32_t i = 0; i < times->count; i++)
        add(&times->steps[i]);
    pthread_mutex_unlock(&lock);
}

/* An ELF destructor, not atexit: it runs after the program's own handlers. */
__attribute__((destructor)) static void print_sums(void)
{
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    if (kernels > 1)
        print("all kernels", &sums);
    pthread_mutex_unlock(&lock);
}
