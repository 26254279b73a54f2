/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of live objects, and the report at exit in the form that CUDA's own checker has.
 */
#include "cudart/core/base/leak.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM            1
#define uthash_nonfatal_oom(element) (is_added = false)
#include <uthash.h>

#include "cudart/core/base/process.h"
#include "util/options.h"

/* Frames looked at, and those printed from the API function upwards. */
#define FRAMES         24
#define FRAMES_PRINTED 12

struct live {
    const void *address;
    const char *noun;
    size_t size_bytes;
    uint64_t number; /* in the order of creation */
    int frame_count;
    void *frames[FRAMES];
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
    made->frame_count = backtrace(made->frames, FRAMES);
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

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The return addresses of a frame lie behind the call: one back is inside it. */
static bool describe(void *frame, Dl_info *info)
{
    return dladdr((const char *)frame - 1, info) != 0 && info->dli_fname;
}

static bool is_libc(const char *module)
{
    return strncmp(module, "libc.so", 7) == 0;
}

/* Index of the first frame to print: the API function, which is the outermost frame in the library
 * of the driver API, or else the first one that is not in this library. All of them when the
 * program is linked with this library's code. */
static int first_frame(const struct live *live)
{
    Dl_info self;
    Dl_info info;
    int first = 0;
    if (!dladdr(&leaks, &self))
        return 0;
    for (int i = 0; i < live->frame_count; i++) {
        if (!describe(live->frames[i], &info))
            continue;
        if (info.dli_fbase == self.dli_fbase)
            first = i + 1;
        else if (strncmp(file_name(info.dli_fname), "libcuda.so", 10) == 0)
            first = i;
        else
            return is_libc(file_name(info.dli_fname)) ? 0 : first;
    }
    return 0;
}

static void write_frames(FILE *out, const char *prefix, const struct live *live)
{
    int first = first_frame(live);
    for (int i = first; i < live->frame_count && i < first + FRAMES_PRINTED; i++) {
        Dl_info info;
        if (!describe(live->frames[i], &info))
            continue;
        const char *module = file_name(info.dli_fname);
        if (is_libc(module))
            return; /* the caller of main */
        if (!info.dli_sname && strncmp(module, "libcudart.so", 12) == 0)
            continue; /* inside of a runtime */
        uintptr_t offset = (uintptr_t)live->frames[i] - (uintptr_t)info.dli_fbase;
        fprintf(out, "%s%s [0x%zx] in %s\n", prefix, info.dli_sname ? info.dli_sname : "?",
                (size_t)offset, module);
    }
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
    write_frames(out, "=========     Host Frame: ", live);
    fprintf(out, "=========\n");
}

char *crt_leak_frames(const void *address)
{
    char *text = NULL;
    size_t len;
    struct live *found;
    pthread_mutex_lock(&leaks.lock);
    HASH_FIND_PTR(leaks.table, &address, found);
    struct live copy;
    if (found)
        copy = *found;
    pthread_mutex_unlock(&leaks.lock);
    FILE *out = found ? open_memstream(&text, &len) : NULL;
    if (!out)
        return NULL;
    write_frames(out, "", &copy);
    fclose(out);
    return text;
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

/* An ELF destructor, not atexit: it runs after the program's own handlers and its runtime's. */
__attribute__((destructor)) static void report_at_exit(void)
{
    if (crt_check_ready() == CRT_SUCCESS && pxr_options_get()->leak_check)
        crt_leak_report(stderr);
}
