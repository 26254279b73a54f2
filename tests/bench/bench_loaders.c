/* SPDX-License-Identifier: Apache-2.0
 *
 * What it costs to put a kernel's object into memory and to take it out again, by ptxrun's own
 * loader and by ORC, in turns in one process: bench_loaders FILE.ptx... CPU time of all threads,
 * medians; ORC's session is made by the first of its loads.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "jit/loader.h"

#define ROUNDS 101

/* A thread is part of every load by ORC. Fresh code is linked on the thread that compiled it. */
enum way { OWN, ORC, THREAD, WAYS };

/* Stands for the functions that the CUDA library provides to kernels; never called here. */
static void host_function(void)
{
}

#define FROM_SCHEDULER(name)
#define FROM_HOST(name) {"rt_" #name, (void *)(uintptr_t)host_function},
#define FROM_CODE(name)
#define FROM_NATIVE(name)

static const struct jit_symbol extra[] = {
#define PLACEHOLDER(ID, name, home, ...) FROM_##home(name)
#include "kernel_abi/placeholders.def"
#undef PLACEHOLDER
};

struct totals {
    double us[WAYS];
    unsigned kernels;
};

static double cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void *do_nothing(void *argument)
{
    return argument;
}

static double thread_once(void)
{
    double start_us = cpu_us();
    pthread_t thread;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, (size_t)16 << 20);
    if (pthread_create(&thread, &attr, do_nothing, NULL) == 0)
        pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    return cpu_us() - start_us;
}

/* Negative: it failed. */
static double load_once(const struct jit_compiler *compiler, enum way way,
                        const struct jit_loading *loading, struct jit_object *object,
                        struct pxr_error *err)
{
    if (way == THREAD)
        return thread_once();
    double start_us = cpu_us();
    struct jit_code *code = calloc(1, sizeof *code);
    enum pxr_status status = way == ORC ? jit_orc_load(compiler, loading, NULL, object, code, err)
                                        : jit_loader_load(loading, object, code, err);
    jit_unload(code);
    return status == PXR_OK ? cpu_us() - start_us : -1;
}

static int compare(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

static enum pxr_status measure_loads(const struct jit_compiler *compiler,
                                     const struct ptx_func *kernel, struct jit_object *object,
                                     struct totals *totals, struct pxr_error *err)
{
    static double us[WAYS][ROUNDS];
    struct jit_loading loading = {.kernel = kernel->name,
                                  .owner = object,
                                  .extra = extra,
                                  .extra_count = sizeof extra / sizeof extra[0]};
    if (totals->kernels == 0) {
        double first_us = load_once(compiler, ORC, &loading, object, err);
        printf("first load by ORC, with its session: %.0f us\n", first_us);
        printf("%8s %8s %8s %8s %8s kernel (CPU us)\n", "own", "orc", "thread", "more", "bytes");
    }
    /* As long as there is code of a module, its library stays. */
    struct jit_code *first = calloc(1, sizeof *first);
    enum pxr_status status = jit_orc_load(compiler, &loading, NULL, object, first, err);
    if (status != PXR_OK)
        return status;
    for (int round = 0; round < ROUNDS; round++)
        for (enum way way = OWN; way < WAYS; way++) {
            us[way][round] = load_once(compiler, way, &loading, object, err);
            if (us[way][round] < 0)
                return err->status;
        }
    jit_unload(first);
    for (enum way way = OWN; way < WAYS; way++)
        qsort(us[way], ROUNDS, sizeof us[way][0], compare);
    double own_us = us[OWN][ROUNDS / 2];
    double orc_us = us[ORC][ROUNDS / 2];
    double thread_us = us[THREAD][ROUNDS / 2];
    printf("%8.1f %8.1f %8.1f %8.1f %8zu %.60s\n", own_us, orc_us, thread_us,
           orc_us - thread_us - own_us, object->size_bytes, kernel->name);
    totals->us[OWN] += own_us;
    totals->us[ORC] += orc_us;
    totals->us[THREAD] += thread_us;
    totals->kernels++;
    return PXR_OK;
}

static enum pxr_status measure_kernel(const struct jit_compiler *compiler,
                                      const struct ptx_module *module,
                                      const struct ptx_func *kernel, struct totals *totals,
                                      struct pxr_error *err)
{
    struct ptx_kernel_layout layout;
    enum pxr_status status = ptx_layout_kernel(module, kernel, &layout, err);
    if (status != PXR_OK)
        return status;
    struct jit_request request = {.module = module, .kernel = kernel, .layout = &layout};
    struct jit_object object;
    status = compiler->compile(&request, &object, err);
    if (status == PXR_OK) {
        status = measure_loads(compiler, kernel, &object, totals, err);
        jit_object_fini(&object);
    }
    ptx_layout_fini(&layout);
    return status;
}

static bool measure_file(const struct jit_compiler *compiler, const char *path,
                         struct totals *totals)
{
    struct pxr_error err = {0};
    struct ptx_module *module = NULL;
    static char text[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t len = file ? fread(text, 1, sizeof text, file) : 0;
    if (file)
        fclose(file);
    enum pxr_status status = ptx_parse((struct pxr_str){text, len}, path, &module, &err);
    for (uint32_t i = 0; status == PXR_OK && i < module->func_count; i++) {
        const struct ptx_func *kernel = module->funcs[i];
        if (kernel->is_entry && kernel->has_body)
            status = measure_kernel(compiler, module, kernel, totals, &err);
    }
    ptx_module_destroy(module);
    if (status != PXR_OK)
        printf("%s: %s\n", path, err.message);
    return status == PXR_OK;
}

int main(int argc, char **argv)
{
    void *library = dlopen(PTXRUN_COMPILE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    jit_compiler_entry_fn entry =
        library ? (jit_compiler_entry_fn)(uintptr_t)dlsym(library, JIT_COMPILER_ENTRY) : NULL;
    if (!entry) {
        fprintf(stderr, "bench_loaders: %s\n", dlerror());
        return 1;
    }
    struct totals totals = {0};
    bool is_complete = true;
    for (int i = 1; i < argc; i++)
        is_complete &= measure_file(entry(), argv[i], &totals);
    if (totals.kernels > 0)
        printf("%u kernels: own %.1f us, ORC %.1f us, of which %.1f us are a thread's\n",
               totals.kernels, totals.us[OWN] / totals.kernels, totals.us[ORC] / totals.kernels,
               totals.us[THREAD] / totals.kernels);
    return is_complete ? 0 : 1;
}
