/* SPDX-License-Identifier: Apache-2.0
 *
 * What compiling costs: opening the compile library, the first kernel of a process, and each kernel
 * of the PTX files given: bench_compile [--auto|--precise|--flat|--hierarchical|--vector|--quick]
 * [--steps] [--dump=DIR] [--kernel=NAME] FILE.ptx... Prints a table; no pass or fail. The collapse
 * is `precise` unless said otherwise; --quick: code of the quick tier; --steps: what each step
 * took, of all files behind it;
 * --dump: the IR behind each step, and the assembly, to files; --kernel: only that kernel of them.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jit/jit.h"

#define MAX_STEPS 128

/* What is asked for of the files to come. */
struct wish {
    struct jit_variant variant;
    bool times_steps;
    const char *dump_dir; /* NULL: nothing is dumped */
    const char *kernel;   /* the only one; NULL: all */
};

struct totals {
    unsigned kernels;
    unsigned failures;
    unsigned instructions; /* of PTX, in the kernels' own bodies */
    double translate_ms;
    double optimise_ms;
    double codegen_ms;
    double load_ms;
    struct jit_step_time steps[MAX_STEPS];
};

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static char *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = size > 0 ? malloc((size_t)size) : NULL;
    *len = text ? fread(text, 1, (size_t)size, file) : 0;
    fclose(file);
    return text;
}

/* Stands for the functions that the CUDA library provides to kernels; never called here. */
static void host_function(void)
{
}

#define FROM_SCHEDULER(name)
#define FROM_HOST(name) {"rt_" #name, (void *)(uintptr_t)host_function},
#define FROM_CODE(name)

static const struct jit_symbol extra[] = {
#define PLACEHOLDER(ID, name, home, ...) FROM_##home(name)
#include "kernel_abi/placeholders.def"
#undef PLACEHOLDER
};

static enum pxr_status load_once(const struct jit_object *object, const char *name,
                                 struct totals *totals, struct pxr_error *err)
{
    double start_ms = now_ms();
    struct jit_code *code;
    struct jit_loading loading = {
        .kernel = name, .extra = extra, .extra_count = sizeof extra / sizeof extra[0]};
    enum pxr_status status = jit_load(object, &loading, &code, err);
    totals->load_ms += now_ms() - start_ms;
    if (status == PXR_OK)
        jit_unload(code);
    return status;
}

static void add_steps(struct totals *totals, const struct jit_step_times *times)
{
    for (uint32_t i = 0; i < times->count; i++) {
        struct jit_step_time *sum = totals->steps;
        while (sum->name && sum->name != times->steps[i].name)
            sum++;
        sum->name = times->steps[i].name;
        sum->count += times->steps[i].count;
        sum->ns += times->steps[i].ns;
        sum->before += times->steps[i].before;
        sum->after += times->steps[i].after;
    }
}

static void print_steps(const struct totals *totals)
{
    for (const struct jit_step_time *step = totals->steps; step->name; step++)
        printf("%8.2f ms %6u times %8llu instructions %8llu %s\n", (double)step->ns * 1e-6,
               step->count, (unsigned long long)step->before, (unsigned long long)step->after,
               step->name);
}

static unsigned count_instructions(const struct ptx_func *kernel)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < kernel->stmt_count; i++)
        count += kernel->stmts[i].kind == PTX_STMT_INST;
    return count;
}

static enum pxr_status measure_kernel(const struct jit_compiler *compiler,
                                      const struct ptx_module *module,
                                      const struct ptx_func *kernel, const struct wish *wish,
                                      struct totals *totals, struct pxr_error *err)
{
    struct ptx_kernel_layout layout;
    enum pxr_status status = ptx_layout_kernel(module, kernel, &layout, err);
    if (status != PXR_OK)
        return status;
    struct jit_request request = {.module = module,
                                  .kernel = kernel,
                                  .layout = &layout,
                                  .variant = wish->variant,
                                  .times_steps = wish->times_steps,
                                  .dump = wish->dump_dir ? "opt,asm,after:all" : NULL,
                                  .dump_dir = wish->dump_dir};
    struct jit_object object = {0};
    double start_ms = now_ms();
    status = compiler->compile(&request, &object, err);
    double wall_ms = now_ms() - start_ms;
    ptx_layout_fini(&layout);
    if (status != PXR_OK)
        return status;
    double translate_ms = (double)object.translate_ns * 1e-6;
    double optimise_ms = (double)object.optimise_ns * 1e-6;
    double codegen_ms = (double)object.codegen_ns * 1e-6;
    char made[PXR_COLLAPSE_TEXT_BYTES];
    pxr_collapse_text(object.collapse, object.width, object.jam, made);
    unsigned instructions = count_instructions(kernel);
    printf("%7u %8.2f %8.2f %8.2f %8.2f %8zu %7u %-12s %.60s\n", instructions, wall_ms,
           translate_ms, optimise_ms, codegen_ms, object.size_bytes, (unsigned)object.frame_bytes,
           made, kernel->name);
    totals->kernels++;
    totals->instructions += instructions;
    totals->translate_ms += translate_ms;
    totals->optimise_ms += optimise_ms;
    totals->codegen_ms += codegen_ms;
    status = load_once(&object, kernel->name, totals, err);
    add_steps(totals, &object.steps);
    jit_object_fini(&object);
    return status;
}

static void measure_file(const struct jit_compiler *compiler, const char *path,
                         const struct wish *wish, struct totals *totals)
{
    struct pxr_error err = {0};
    size_t len = 0;
    char *text = read_file(path, &len);
    struct ptx_module *module = NULL;
    if (!text || ptx_parse((struct pxr_str){text, len}, path, &module, &err) != PXR_OK) {
        printf("cannot read %s: %s\n", path, err.message);
        totals->failures++;
        free(text);
        return;
    }
    for (uint32_t i = 0; i < module->func_count; i++) {
        const struct ptx_func *kernel = module->funcs[i];
        if (!kernel->is_entry || !kernel->has_body ||
            (wish->kernel && strcmp(wish->kernel, kernel->name) != 0))
            continue;
        if (measure_kernel(compiler, module, kernel, wish, totals, &err) != PXR_OK) {
            printf("%s\n", err.message);
            totals->failures++;
        }
    }
    ptx_module_destroy(module);
    free(text);
}

/* Options are about the files behind them. */
static bool parse_option(const char *text, struct wish *wish)
{
    if (strcmp(text, "--quick") == 0)
        return wish->variant.is_quick = true;
    if (strcmp(text, "--steps") == 0)
        return wish->times_steps = true;
    if (strncmp(text, "--dump=", 7) == 0)
        return wish->dump_dir = text + 7;
    if (strncmp(text, "--kernel=", 9) == 0)
        return wish->kernel = text + 9;
    for (unsigned i = 0; i < PXR_COLLAPSE_COUNT; i++) {
        const char *name = pxr_collapse_name((enum pxr_collapse)i);
        if (strncmp(text, "--", 2) == 0 && strcmp(text + 2, name) == 0) {
            wish->variant.collapse = (enum pxr_collapse)i;
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    const char *library_path = PTXRUN_COMPILE_LIBRARY;
    double start_ms = now_ms();
    void *library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
    double open_ms = now_ms() - start_ms;
    if (!library) {
        fprintf(stderr, "bench_compile: %s\n", dlerror());
        return 1;
    }
    jit_compiler_entry_fn entry =
        (jit_compiler_entry_fn)(uintptr_t)dlsym(library, JIT_COMPILER_ENTRY);
    if (!entry)
        return 1;
    const struct jit_compiler *compiler = entry();
    printf("LLVM %s opened in %.2f ms\n", compiler->llvm_version, open_ms);
    printf(
        "%7s %8s %8s %8s %8s %8s %7s %-12s kernel (of PTX; ms; translate, optimise, codegen: CPU "
        "time)\n",
        "instr.", "wall", "transl.", "optim.", "codegen", "bytes", "stack", "collapse");
    struct totals totals = {0};
    struct wish wish = {.variant = {.collapse = PXR_COLLAPSE_PRECISE}};
    for (int i = 1; i < argc; i++)
        if (!parse_option(argv[i], &wish))
            measure_file(compiler, argv[i], &wish, &totals);
    print_steps(&totals);
    printf("%u kernels of %u instructions, %u failures; CPU ms: translate %.1f, optimise %.1f, "
           "codegen %.1f; "
           "loading %.1f\n",
           totals.kernels, totals.instructions, totals.failures, totals.translate_ms,
           totals.optimise_ms, totals.codegen_ms, totals.load_ms);
    return 0;
}
