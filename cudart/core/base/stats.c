/* SPDX-License-Identifier: Apache-2.0
 *
 * The table that --stats prints at exit, and the lines that --stats-file writes.
 */
#include "cudart/core/base/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "cudart/core/base/process.h"
#include "jit/jit.h"
#include "util/log.h"
#include "util/options.h"
#include "util/readable_name.h"

/* The reason why a kernel is not as asked for; longer ones are cut off. */
#define WHY_BYTES 400
/* A line of --stats-file, with room for long names of templates. */
#define LINE_BYTES 65536

struct kernel_stats {
    uint64_t calls;
    uint64_t total_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    uint64_t compile_ns;
    uint64_t quick_ns;      /* in quick code */
    uint64_t quick_since;   /* when there was quick code, 0: there has been none */
    uint64_t price_ns;      /* predicted for the best code, … */
    uint64_t best_cpu_ns;   /* … and what it took; 0: it was in the cache */
    uint64_t best_after_ns; /* when it was there, since there was quick code; 0: it is not there */
    bool is_quick;          /* all variants are */
    char collapse[PXR_COLLAPSE_TEXT_BYTES]; /* of its variants; "": none was compiled */
    char why[WHY_BYTES];                    /* why one of them is not as asked for; "": all are */
    char tried[WHY_BYTES];                  /* what was measured; "": nothing */
    UT_hash_handle hh;
    char name[];
};

struct copy_stats {
    uint64_t calls;
    uint64_t bytes;
    uint64_t total_ns;
};

/* Guarded by lock, except for fields set once before any use: are_on, are_printed and file. */
static struct {
    pthread_mutex_t lock;
    atomic_bool are_on;
    bool are_printed;
    const char *file; /* "" for none */
    struct kernel_stats *kernels;
    struct copy_stats copies[CRT_COPY_KINDS];
    uint64_t cache_hits;
    uint64_t cache_misses;
    uint64_t summary_hits;
    uint64_t summary_misses;
} stats = {.lock = PTHREAD_MUTEX_INITIALIZER};

void crt_stats_init(bool are_printed, const char *file)
{
    stats.are_printed = are_printed;
    stats.file = file;
    atomic_store(&stats.are_on, are_printed || *file);
}

bool crt_stats_are_on(void)
{
    return atomic_load_explicit(&stats.are_on, memory_order_relaxed);
}

/* The row of a kernel, or NULL when out of memory. Called with the lock held. */
static struct kernel_stats *find_kernel(const char *name)
{
    struct kernel_stats *row;
    HASH_FIND_STR(stats.kernels, name, row);
    if (row)
        return row;
    size_t len = strlen(name);
    row = calloc(1, sizeof *row + len + 1);
    if (!row)
        return NULL;
    memcpy(row->name, name, len + 1);
    row->min_ns = UINT64_MAX;
    HASH_ADD_STR(stats.kernels, name, row);
    return row;
}

void crt_stats_kernel(const char *name, uint64_t time_ns)
{
    if (!crt_stats_are_on())
        return;
    pthread_mutex_lock(&stats.lock);
    struct kernel_stats *row = find_kernel(name);
    if (row) {
        row->calls++;
        row->total_ns += time_ns;
        if (time_ns < row->min_ns)
            row->min_ns = time_ns;
        if (time_ns > row->max_ns)
            row->max_ns = time_ns;
    }
    pthread_mutex_unlock(&stats.lock);
}

/* Updates the summary of a kernel's variants after another one was compiled. */
static void note_collapse(struct kernel_stats *row, const struct jit_object *made)
{
    char text[PXR_COLLAPSE_TEXT_BYTES];
    pxr_collapse_text(made->collapse, made->width, made->jam, text);
    if (!row->collapse[0] || row->is_quick || strcmp(row->collapse, text) == 0) {
        strcpy(row->collapse, text);
        return;
    }
    size_t name_len = strcspn(text, " ");
    bool is_same_name =
        strncmp(row->collapse, text, name_len) == 0 && strcspn(row->collapse, " ") == name_len;
    snprintf(row->collapse, sizeof row->collapse, "%s",
             is_same_name ? pxr_collapse_name(made->collapse) : "several");
}

/* The first line of the explanation, if it is not what was asked for, or if compiling was cut
 * short. */
static void note_why(struct kernel_stats *row, const struct jit_variant *wanted,
                     const struct jit_object *made)
{
    const char *text = made->explanation ? made->explanation : "";
    bool is_as_asked = wanted->collapse == PXR_COLLAPSE_AUTO || wanted->collapse == made->collapse;
    if (!is_as_asked || strstr(text, "compile budget: "))
        snprintf(row->why, sizeof row->why, "%.*s", (int)strcspn(text, "\n"), text);
}

void crt_stats_compile(const char *name, const struct jit_variant *wanted,
                       const struct jit_object *made, uint64_t time_ns)
{
    if (!crt_stats_are_on())
        return;
    pthread_mutex_lock(&stats.lock);
    struct kernel_stats *row = find_kernel(name);
    if (row) {
        row->compile_ns += time_ns;
        note_collapse(row, made);
        note_why(row, wanted, made);
        row->is_quick = wanted->is_quick;
    }
    pthread_mutex_unlock(&stats.lock);
}

void crt_stats_quick(const char *name, uint64_t ran_ns)
{
    if (!crt_stats_are_on())
        return;
    pthread_mutex_lock(&stats.lock);
    struct kernel_stats *row = find_kernel(name);
    if (row)
        row->quick_ns += ran_ns;
    pthread_mutex_unlock(&stats.lock);
}

void crt_stats_tier(const char *name, bool is_quick, uint64_t price_ns, uint64_t cpu_ns)
{
    if (!crt_stats_are_on())
        return;
    pthread_mutex_lock(&stats.lock);
    struct kernel_stats *row = find_kernel(name);
    if (row && is_quick && row->quick_since == 0) {
        row->quick_since = crt_now_ns();
        row->price_ns = price_ns;
    } else if (row && !is_quick && row->quick_since != 0 && row->best_after_ns == 0) {
        row->best_after_ns = crt_now_ns() - row->quick_since;
        row->best_cpu_ns = cpu_ns;
    }
    pthread_mutex_unlock(&stats.lock);
}

void crt_stats_tried(const char *name, const char *text)
{
    if (!crt_stats_are_on())
        return;
    pthread_mutex_lock(&stats.lock);
    struct kernel_stats *row = find_kernel(name);
    if (row)
        snprintf(row->tried, sizeof row->tried, "%s", text);
    pthread_mutex_unlock(&stats.lock);
}

void crt_stats_cache(bool is_hit)
{
    if (!crt_stats_are_on())
        return;
    pthread_mutex_lock(&stats.lock);
    stats.cache_hits += is_hit;
    stats.cache_misses += !is_hit;
    pthread_mutex_unlock(&stats.lock);
}

void crt_stats_summary(bool is_hit)
{
    if (!crt_stats_are_on())
        return;
    pthread_mutex_lock(&stats.lock);
    stats.summary_hits += is_hit;
    stats.summary_misses += !is_hit;
    pthread_mutex_unlock(&stats.lock);
}

void crt_stats_copy(enum crt_copy_kind kind, size_t size_bytes, uint64_t time_ns)
{
    if (!crt_stats_are_on())
        return;
    pthread_mutex_lock(&stats.lock);
    stats.copies[kind].calls++;
    stats.copies[kind].bytes += size_bytes;
    stats.copies[kind].total_ns += time_ns;
    pthread_mutex_unlock(&stats.lock);
}

static int by_total(const struct kernel_stats *a, const struct kernel_stats *b)
{
    return (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
}

static double milliseconds(uint64_t ns)
{
    return (double)ns / 1e6;
}

static void print_kernels(void)
{
    uint64_t all_ns = 0;
    struct kernel_stats *row;
    struct kernel_stats *next;
    HASH_ITER(hh, stats.kernels, row, next)
    all_ns += row->total_ns;
    HASH_SORT(stats.kernels, by_total);
    fprintf(stderr, "ptxrun: Time(%%)   Total ms   Calls     Avg ms     Min ms     Max ms "
                    "Compile ms  Collapse      Kernel\n");
    HASH_ITER(hh, stats.kernels, row, next)
    {
        double share = all_ns ? 100.0 * (double)row->total_ns / (double)all_ns : 0;
        uint64_t calls = row->calls ? row->calls : 1;
        char *name = pxr_readable_name(row->name);
        fprintf(stderr,
                "ptxrun: %7.2f %10.3f %7" PRIu64 " %10.3f %10.3f %10.3f %10.3f  %-12s  %s\n", share,
                milliseconds(row->total_ns), row->calls,
                milliseconds(row->total_ns) / (double)calls,
                milliseconds(row->calls ? row->min_ns : 0), milliseconds(row->max_ns),
                milliseconds(row->compile_ns), row->collapse, name ? name : row->name);
        free(name);
    }
}

static void print_sentence(const struct kernel_stats *row, const char *text)
{
    if (!text[0])
        return;
    char *name = pxr_readable_name(row->name);
    fprintf(stderr, "ptxrun: kernel '%s': %s\n", name ? name : row->name, text);
    free(name);
}

static void print_sentences(void)
{
    struct kernel_stats *row;
    struct kernel_stats *next;
    HASH_ITER(hh, stats.kernels, row, next)
    {
        print_sentence(row, row->why);
        print_sentence(row, row->tried);
    }
}

static void print_tier(const struct kernel_stats *row)
{
    char *name = pxr_readable_name(row->name);
    fprintf(stderr, "ptxrun: kernel '%s': quick code ran for %.1f ms; compiling the best ",
            name ? name : row->name, milliseconds(row->quick_ns));
    if (row->best_after_ns == 0)
        fprintf(stderr, "is predicted to take %.1f ms\n", milliseconds(row->price_ns));
    else
        fprintf(stderr,
                "was predicted to take %.1f ms and took %.1f ms; it took over after %.1f ms\n",
                milliseconds(row->price_ns), milliseconds(row->best_cpu_ns),
                milliseconds(row->best_after_ns));
    free(name);
}

static void print_tiers(void)
{
    struct kernel_stats *row;
    struct kernel_stats *next;
    HASH_ITER(hh, stats.kernels, row, next)
    if (row->quick_since != 0)
        print_tier(row);
}

static void print_copies(void)
{
    static const char *const names[CRT_COPY_KINDS] = {"host to device", "device to host",
                                                      "device to device"};
    for (int i = 0; i < CRT_COPY_KINDS; i++) {
        const struct copy_stats *row = &stats.copies[i];
        if (row->calls)
            fprintf(stderr, "ptxrun: copies %s: %" PRIu64 " calls, %" PRIu64 " bytes, %.3f ms\n",
                    names[i], row->calls, row->bytes, milliseconds(row->total_ns));
    }
}

static void print_cache(void)
{
    if (stats.cache_hits + stats.cache_misses)
        fprintf(stderr,
                "ptxrun: compiled code: %" PRIu64 " from the cache, %" PRIu64 " not in the cache\n",
                stats.cache_hits, stats.cache_misses);
    if (stats.summary_hits + stats.summary_misses)
        fprintf(stderr,
                "ptxrun: modules: %" PRIu64 " known from the cache, %" PRIu64
                " parsed to know them\n",
                stats.summary_hits, stats.summary_misses);
}

/* Fields separated by tabs: calls; total, shortest, longest and compile time in ns; collapse;
 * kernel. Processes of one program may add to the same file: each line is a single write. */
static void add_lines_to_file(void)
{
    FILE *file = fopen(stats.file, "ae");
    if (!file) {
        pxr_log(PXR_LOG_ERROR, "cannot write the statistics to %s: %s", stats.file,
                strerror(errno));
        return;
    }
    setvbuf(file, NULL, _IOLBF, LINE_BYTES);
    struct kernel_stats *row;
    struct kernel_stats *next;
    HASH_ITER(hh, stats.kernels, row, next)
    {
        fprintf(file, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s\t%s\n",
                row->calls, row->total_ns, row->calls ? row->min_ns : 0, row->max_ns,
                row->compile_ns, row->collapse, row->name);
    }
    fclose(file);
}

/* An ELF destructor, not atexit: it runs after the program's own handlers and its runtime's. */
__attribute__((destructor)) static void write_at_exit(void)
{
    if (!crt_stats_are_on() || crt_check_ready() != CRT_SUCCESS)
        return;
    pthread_mutex_lock(&stats.lock);
    if (stats.are_printed) {
        print_kernels();
        print_sentences();
        print_tiers();
        print_copies();
        print_cache();
    }
    if (*stats.file)
        add_lines_to_file();
    pthread_mutex_unlock(&stats.lock);
}
