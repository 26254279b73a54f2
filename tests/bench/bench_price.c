/* SPDX-License-Identifier: Apache-2.0
 *
 * How well the price of best code is foretold by quick code (docs/tiers.md), for every kernel of
 * the PTX files given:
 *   bench_price [--block=X[,Y[,Z]]] [--list] FILE.ptx...
 * Compiles each in both tiers; the best for blocks of that shape. Prints how many took between a
 * half and twice of what was foretold, as it is and with the correction that all of them together
 * call for; --list: a line for each. No pass or fail.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/code/price.h"
#include "jit/jit.h"
#include "util/read_file.h"

struct sample {
    double predicted_ms;
    double took_ms;
};

static struct {
    const struct jit_compiler *compiler;
    uint32_t block[3];
    bool is_listed;
    struct sample *samples;
    size_t count;
} bench;

static double took_ms(const struct jit_object *object)
{
    return (double)(object->translate_ns + object->optimise_ns + object->codegen_ns) / 1e6;
}

static enum pxr_status compile(struct jit_request *request, bool is_quick,
                               struct jit_object *object, struct pxr_error *err)
{
    request->variant.is_quick = is_quick;
    return bench.compiler->compile(request, object, err);
}

static void add_sample(const char *kernel, const struct jit_object *quick,
                       const struct jit_object *best)
{
    struct sample *more = realloc(bench.samples, (bench.count + 1) * sizeof *more);
    if (!more)
        exit(1);
    bench.samples = more;
    struct sample *sample = &bench.samples[bench.count++];
    uint64_t quick_ns = quick->is_warm ? (uint64_t)(took_ms(quick) * 1e6) : 0;
    sample->predicted_ms =
        (double)crt_price_predict(quick->instructions, quick->size_bytes, quick_ns) / 1e6;
    sample->took_ms = took_ms(best);
    if (bench.is_listed)
        printf("%9.1f %9.1f %6.2f %7u %8.2f %8zu %8zu  %.60s\n", sample->predicted_ms,
               sample->took_ms, sample->predicted_ms / sample->took_ms,
               (unsigned)quick->instructions, took_ms(quick), quick->size_bytes, best->size_bytes,
               kernel);
}

static void measure_kernel(const struct ptx_module *module, const struct ptx_func *kernel)
{
    struct ptx_kernel_layout layout;
    struct pxr_error err = {0};
    if (ptx_layout_kernel(module, kernel, &layout, &err) != PXR_OK) {
        printf("%s\n", err.message);
        return;
    }
    struct jit_request request = {.module = module, .kernel = kernel, .layout = &layout};
    memcpy(request.variant.facts.block, bench.block, sizeof bench.block);
    struct jit_object quick = {0};
    struct jit_object best = {0};
    if (compile(&request, true, &quick, &err) == PXR_OK &&
        compile(&request, false, &best, &err) == PXR_OK)
        add_sample(kernel->name, &quick, &best);
    else
        printf("%s\n", err.message);
    jit_object_fini(&quick);
    jit_object_fini(&best);
    ptx_layout_fini(&layout);
}

static void measure_file(const char *path)
{
    struct pxr_error err = {0};
    struct ptx_module *module = NULL;
    size_t len = 0;
    char *text = pxr_read_file(path, &len);
    if (!text || ptx_parse((struct pxr_str){text, len}, path, &module, &err) != PXR_OK)
        printf("cannot read %s: %s\n", path, err.message);
    for (uint32_t i = 0; module && i < module->func_count; i++)
        if (module->funcs[i]->is_entry && module->funcs[i]->has_body)
            measure_kernel(module, module->funcs[i]);
    ptx_module_destroy(module);
    free(text);
}

/* Of 100, when all are foretold so many times as much. */
static double share_within_two(double factor)
{
    size_t within = 0;
    for (size_t i = 0; i < bench.count; i++) {
        double ratio = factor * bench.samples[i].predicted_ms / bench.samples[i].took_ms;
        within += ratio >= 0.5 && ratio <= 2;
    }
    return 100.0 * (double)within / (double)bench.count;
}

static void print_result(void)
{
    double predicted_ms = 0;
    double all_ms = 0;
    for (size_t i = 0; i < bench.count; i++) {
        predicted_ms += bench.samples[i].predicted_ms;
        all_ms += bench.samples[i].took_ms;
    }
    double factor = all_ms / predicted_ms;
    printf("%zu kernels took %.0f ms in sum, %.2f times what was foretold\n", bench.count, all_ms,
           factor);
    printf("between a half and twice of it: %.1f%%; if corrected by the sum: %.1f%%\n",
           share_within_two(1), share_within_two(factor));
}

static bool open_compiler(void)
{
    void *library = dlopen(PTXRUN_COMPILE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    jit_compiler_entry_fn entry =
        library ? (jit_compiler_entry_fn)(uintptr_t)dlsym(library, JIT_COMPILER_ENTRY) : NULL;
    if (entry)
        bench.compiler = entry();
    else
        fprintf(stderr, "bench_price: %s\n", dlerror());
    return entry != NULL;
}

int main(int argc, char **argv)
{
    if (!open_compiler())
        return 1;
    for (int i = 1; i < argc; i++) {
        unsigned x = 0;
        unsigned y = 1;
        unsigned z = 1;
        if (strcmp(argv[i], "--list") == 0)
            bench.is_listed = true;
        else if (sscanf(argv[i], "--block=%u,%u,%u", &x, &y, &z) >= 1)
            memcpy(bench.block, (uint32_t[]){x, y, z}, sizeof bench.block);
        else
            measure_file(argv[i]);
    }
    if (bench.count > 0)
        print_result();
    free(bench.samples);
    return 0;
}
