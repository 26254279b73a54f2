/* SPDX-License-Identifier: Apache-2.0
 *
 * What the cache of compiled code costs: parsing a module, making the key of a kernel of it, its
 * summary and the summary's key, and storing and getting as much code as kernels have. CPU time,
 * the least of some rounds.
 *
 * bench_cache DIR FILE.ptx...   DIR: of a cache, made at need
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cudart/core/code/code_cache.h"
#include "cudart/core/code/summary.h"

#define ROUNDS 20

static double cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double less(double a, double b)
{
    return a < b ? a : b;
}

static char *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 26);
    if (!file || !text) {
        perror(path);
        exit(1);
    }
    *len = fread(text, 1, 1 << 26, file);
    fclose(file);
    return text;
}

/* ---- keys ---- */

static const struct ptx_func *largest_kernel(const struct ptx_module *module)
{
    const struct ptx_func *found = NULL;
    for (uint32_t i = 0; i < module->func_count; i++)
        if (module->funcs[i]->is_entry &&
            (!found || module->funcs[i]->stmt_count > found->stmt_count))
            found = module->funcs[i];
    return found;
}

static double key_us(const struct ptx_module *module, const struct ptx_func *kernel)
{
    struct ptx_kernel_layout layout;
    struct jit_build_id compiler = {.count = 20};
    volatile uint8_t byte; /* so that the key is made */
    double least = 1e12;
    if (ptx_layout_kernel(module, kernel, &layout, NULL) != PXR_OK)
        exit(1);
    struct jit_request request = {0};
    uint8_t digest[PTX_DIGEST_BYTES];
    for (int i = 0; i < ROUNDS; i++) {
        double start = cpu_us();
        if (crt_kernel_digest(module, kernel, &layout, digest, NULL) != PXR_OK)
            exit(1);
        byte = crt_code_key(CRT_CACHED_CODE, &request, digest, &compiler, "target").bytes[0];
        least = less(least, cpu_us() - start);
    }
    (void)byte;
    ptx_layout_fini(&layout);
    return least;
}

/* ---- summaries ---- */

static void measure_summary(const struct ptx_module *module, const char *text, size_t len)
{
    double identify = 1e12;
    double write = 1e12;
    double read = 1e12;
    size_t count = 0;
    struct cache_key key;
    struct ptx_source *source;
    if (ptx_source_open(text, len, 75, "", &source, NULL) != PXR_OK)
        exit(1);
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t *bytes;
        struct ptx_outline *outline;
        double start = cpu_us();
        crt_summary_key(source, &key);
        identify = less(identify, cpu_us() - start);
        start = cpu_us();
        if (ptx_outline_write(module, "", crt_kernel_digest, &bytes, &count, NULL) != PXR_OK)
            exit(1);
        write = less(write, cpu_us() - start);
        start = cpu_us();
        if (!ptx_outline_read(bytes, count, &outline))
            exit(1);
        read = less(read, cpu_us() - start);
        ptx_outline_destroy(outline);
    }
    printf("    identified in %.1f us; summary of %zu bytes, made in %.1f us, read in %.1f us\n",
           identify, count, write, read);
    ptx_source_close(source);
}

static void measure_file(const char *path)
{
    size_t len;
    char *text = read_file(path, &len);
    struct ptx_module *module = NULL;
    double least = 1e12;
    for (int i = 0; i < ROUNDS; i++) {
        if (module)
            ptx_module_destroy(module);
        double start = cpu_us();
        if (ptx_parse((struct pxr_str){text, len}, path, &module, NULL) != PXR_OK)
            exit(1);
        least = less(least, cpu_us() - start);
    }
    const struct ptx_func *kernel = largest_kernel(module);
    printf("%-40s %8zu bytes: parsed in %8.1f us; kernel of %5u statements: key in %6.1f us\n",
           path, len, least, kernel ? kernel->stmt_count : 0, kernel ? key_us(module, kernel) : 0);
    measure_summary(module, text, len);
    ptx_module_destroy(module);
    free(text);
}

/* ---- entries ---- */

/* As compressible as code is. */
static void measure_entry(struct cache *cache, const char *code, size_t size_bytes)
{
    double put = 1e12;
    double get = 1e12;
    double lock = 1e12;
    for (int i = 0; i < ROUNDS; i++) {
        struct cache_hash hash;
        struct cache_claim claim;
        uint8_t *bytes;
        size_t got;
        cache_hash_init(&hash, "bench");
        cache_hash_number(&hash, (uint64_t)i);
        cache_hash_number(&hash, size_bytes);
        struct cache_key key = cache_hash_key(&hash);
        double start = cpu_us();
        if (cache_claim(cache, &key, 0, &claim) == CACHE_CLAIM_HELD)
            cache_release(&claim);
        lock = less(lock, cpu_us() - start);
        start = cpu_us();
        cache_put(cache, &key, code, size_bytes);
        put = less(put, cpu_us() - start);
        start = cpu_us();
        if (!cache_get(cache, &key, &bytes, &got))
            exit(1);
        get = less(get, cpu_us() - start);
        free(bytes);
    }
    printf("%8zu bytes of code: claimed in %5.1f us, stored in %6.1f us, found in %6.1f us\n",
           size_bytes, lock, put, get);
}

int main(int argc, char **argv)
{
    struct cache *cache;
    struct pxr_error error = {0};
    if (argc < 2 || cache_open(argv[1], UINT64_C(1) << 30, &cache, &error) != PXR_OK) {
        fprintf(stderr, "usage: bench_cache DIR FILE.ptx...\n%s\n", error.message);
        return 2;
    }
    for (int i = 2; i < argc; i++)
        measure_file(argv[i]);
    size_t len;
    char *code = read_file("/proc/self/exe", &len);
    for (size_t size_bytes = 8 << 10; size_bytes <= 512 << 10 && 2 * size_bytes < len;
         size_bytes *= 4)
        measure_entry(cache, code + len / 4, size_bytes);
    free(code);
    cache_close(cache);
    return 0;
}
