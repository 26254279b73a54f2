/* SPDX-License-Identifier: Apache-2.0
 *
 * What compiling costs: opening the compile library, the first kernel of a process, and each kernel
 * of the PTX files given:
 *   bench_compile [--auto|--precise|--flat|--hierarchical|--vector] [--quick] [--block=X[,Y[,Z]]]
 *                 [--kernel=NAME] [--above=MS] [--steps] [--dump=DIR] FILE.ptx...
 * Prints a table; no pass or fail. Options count for the files behind them. The collapse is
 * `precise` unless said otherwise; --quick: code of the quick tier; --block: the shape that the
 * code knows; --kernel: only that one; --above: rows of kernels that take so much CPU time only,
 * each with the steps that it goes to; --steps: what each step took in all; --dump: the IR behind
 * each step, and the assembly, to DIR/KERNEL....
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jit/jit.h"

#define MAX_STEPS 128

/* What is asked of the files that follow. */
struct wanted {
    struct jit_variant variant;
    double above_ms;      /* 0: all */
    bool has_steps;       /* what each step took is printed in the end */
    const char *kernel;   /* the only one; NULL: all */
    const char *dump_dir; /* NULL: nothing is dumped */
};

struct totals {
    unsigned kernels;
    unsigned failures;
    double translate_ms;
    double optimise_ms;
    double codegen_ms;
    double load_ms;
    double most_ms;
    double *us_each; /* of kernel after kernel: CPU time for an instruction of PTX; malloc */
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
#define FROM_NATIVE(name)

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

/* With those of the functions that it may call. */
static uint32_t instruction_count(const struct ptx_func *kernel,
                                  const struct ptx_kernel_layout *layout)
{
    uint32_t count = 0;
    for (uint32_t f = 0; f <= layout->reached_count; f++) {
        const struct ptx_func *func = f == 0 ? kernel : layout->reached[f - 1];
        for (uint32_t i = 0; i < func->stmt_count; i++)
            count += func->stmts[i].kind == PTX_STMT_INST;
    }
    return count;
}

static double cpu_ms(const struct jit_object *object)
{
    return (double)(object->translate_ns + object->optimise_ns + object->codegen_ns) * 1e-6;
}

static void print_row(const struct ptx_func *kernel, const struct jit_object *object,
                      uint32_t instructions, double wall_ms)
{
    char made[PXR_COLLAPSE_TEXT_BYTES];
    pxr_collapse_text(object->collapse, object->width, object->jam, made);
    printf("%8.2f %8.2f %8.2f %8.2f %7u %6.0f %8zu %7u %-12s %.60s\n", wall_ms,
           (double)object->translate_ns * 1e-6, (double)object->optimise_ns * 1e-6,
           (double)object->codegen_ns * 1e-6, (unsigned)instructions,
           1e3 * cpu_ms(object) / (instructions > 0 ? instructions : 1), object->size_bytes,
           (unsigned)object->frame_bytes, made, kernel->name);
}

/* Steps that take less than this part of a kernel's time are not worth a row. */
#define STEP_SHARE 0.03

static void print_step(const struct jit_step_time *step)
{
    printf("%17.2f %-20s %u runs, instructions %llu, behind it %llu\n", (double)step->ns * 1e-6,
           step->name, (unsigned)step->count, (unsigned long long)step->before,
           (unsigned long long)step->after);
}

static void print_long_steps(const struct jit_object *object)
{
    for (uint32_t i = 0; i < object->steps.count; i++)
        if ((double)object->steps.steps[i].ns * 1e-6 >= STEP_SHARE * cpu_ms(object))
            print_step(&object->steps.steps[i]);
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

static void add_kernel(struct totals *totals, const struct jit_object *object,
                       uint32_t instructions)
{
    double *us_each = realloc(totals->us_each, (totals->kernels + 1) * sizeof *us_each);
    if (us_each == NULL)
        exit(1);
    us_each[totals->kernels] = 1e3 * cpu_ms(object) / (instructions > 0 ? instructions : 1);
    totals->us_each = us_each;
    totals->kernels++;
    totals->translate_ms += (double)object->translate_ns * 1e-6;
    totals->optimise_ms += (double)object->optimise_ns * 1e-6;
    totals->codegen_ms += (double)object->codegen_ns * 1e-6;
    add_steps(totals, &object->steps);
    totals->most_ms = cpu_ms(object) > totals->most_ms ? cpu_ms(object) : totals->most_ms;
}

static enum pxr_status measure_kernel(const struct jit_compiler *compiler,
                                      const struct ptx_module *module,
                                      const struct ptx_func *kernel, const struct wanted *wanted,
                                      struct totals *totals, struct pxr_error *err)
{
    struct ptx_kernel_layout layout;
    enum pxr_status status = ptx_layout_kernel(module, kernel, &layout, err);
    if (status != PXR_OK)
        return status;
    struct jit_request request = {.module = module,
                                  .kernel = kernel,
                                  .layout = &layout,
                                  .variant = wanted->variant,
                                  .dump = wanted->dump_dir ? "opt,asm,after:all" : NULL,
                                  .dump_dir = wanted->dump_dir,
                                  .times_steps = wanted->has_steps || wanted->above_ms > 0};
    struct jit_object object = {0};
    double start_ms = now_ms();
    status = compiler->compile(&request, &object, err);
    double wall_ms = now_ms() - start_ms;
    uint32_t instructions = instruction_count(kernel, &layout);
    ptx_layout_fini(&layout);
    if (status != PXR_OK)
        return status;
    if (cpu_ms(&object) >= wanted->above_ms) {
        print_row(kernel, &object, instructions, wall_ms);
        if (wanted->above_ms > 0)
            print_long_steps(&object);
    }
    add_kernel(totals, &object, instructions);
    status = load_once(&object, kernel->name, totals, err);
    jit_object_fini(&object);
    return status;
}

static void measure_file(const struct jit_compiler *compiler, const char *path,
                         const struct wanted *wanted, struct totals *totals)
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
            (wanted->kernel && strcmp(wanted->kernel, kernel->name) != 0))
            continue;
        if (measure_kernel(compiler, module, kernel, wanted, totals, &err) != PXR_OK) {
            printf("%s\n", err.message);
            totals->failures++;
        }
    }
    ptx_module_destroy(module);
    free(text);
}

/* --NAME */
static bool parse_collapse(const char *text, enum pxr_collapse *collapse)
{
    for (unsigned i = 0; i < PXR_COLLAPSE_COUNT; i++) {
        const char *name = pxr_collapse_name((enum pxr_collapse)i);
        if (strncmp(text, "--", 2) == 0 && strcmp(text + 2, name) == 0) {
            *collapse = (enum pxr_collapse)i;
            return true;
        }
    }
    return false;
}

static bool parse_block(const char *text, uint32_t block[3])
{
    unsigned x = 0, y = 1, z = 1;
    if (sscanf(text, "--block=%u,%u,%u", &x, &y, &z) < 1)
        return false;
    block[0] = x;
    block[1] = y;
    block[2] = z;
    return true;
}

/* --NAME=VALUE: the value; NULL: text is something else. */
static const char *value_of(const char *text, const char *option)
{
    size_t len = strlen(option);
    return strncmp(text, option, len) == 0 ? text + len : NULL;
}

static bool parse_option(const char *text, struct wanted *wanted)
{
    const char *dump_dir = value_of(text, "--dump=");
    const char *kernel = value_of(text, "--kernel=");
    if (dump_dir)
        wanted->dump_dir = dump_dir;
    else if (kernel)
        wanted->kernel = kernel;
    else if (strcmp(text, "--quick") == 0)
        wanted->variant.is_quick = true;
    else if (strcmp(text, "--steps") == 0)
        wanted->has_steps = true;
    else
        return parse_collapse(text, &wanted->variant.collapse) ||
               parse_block(text, wanted->variant.facts.block) ||
               sscanf(text, "--above=%lf", &wanted->above_ms) == 1;
    return true;
}

/* ---- the end ---- */

static int compare_numbers(const void *a, const void *b)
{
    const double *left = a;
    const double *right = b;
    return (*left > *right) - (*left < *right);
}

static void print_totals(struct totals *totals)
{
    printf("%u kernels, %u failures; CPU ms: translate %.1f, optimise %.1f, codegen %.1f; "
           "loading %.1f\n",
           totals->kernels, totals->failures, totals->translate_ms, totals->optimise_ms,
           totals->codegen_ms, totals->load_ms);
    if (totals->kernels == 0)
        return;
    qsort(totals->us_each, totals->kernels, sizeof *totals->us_each, compare_numbers);
    printf("CPU us for an instruction: median %.0f, most %.0f; CPU ms of one kernel: most %.0f\n",
           totals->us_each[totals->kernels / 2], totals->us_each[totals->kernels - 1],
           totals->most_ms);
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
    printf("%8s %8s %8s %8s %7s %6s %8s %7s %-12s kernel (ms; all but wall: CPU time)\n", "wall",
           "transl.", "optim.", "codegen", "instr.", "us/in.", "bytes", "stack", "collapse");
    struct totals totals = {0};
    struct wanted wanted = {.variant = {.collapse = PXR_COLLAPSE_PRECISE}};
    for (int i = 1; i < argc; i++)
        if (!parse_option(argv[i], &wanted))
            measure_file(compiler, argv[i], &wanted, &totals);
    for (const struct jit_step_time *step = totals.steps; wanted.has_steps && step->name; step++)
        print_step(step);
    print_totals(&totals);
    free(totals.us_each);
    return 0;
}
