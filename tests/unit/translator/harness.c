/* SPDX-License-Identifier: Apache-2.0
 *
 * Test harness of the translator; see harness.h.
 */
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include "jit/llvm_target.h"
#include "kernel_abi/device_runtime.h"
#include "tests/support/orc.h"
#include "translator/pipeline.h"

/* ---- doubles of kernel_abi/rt.h ---- */

static struct harness *running;
static jmp_buf thread_end;

static void __attribute__((format(printf, 1, 2))) note(const char *format, ...)
{
    size_t used = strlen(running->log);
    va_list args;
    va_start(args, format);
    vsnprintf(running->log + used, HARNESS_LOG_BYTES - used, format, args);
    va_end(args);
}

static void double_bar_sync(struct rt_thread *t, uint32_t id, uint32_t count)
{
    (void)t;
    note("bar_sync %u %u\n", id, count);
}

static void double_bar_arrive(struct rt_thread *t, uint32_t id, uint32_t count)
{
    (void)t;
    note("bar_arrive %u %u\n", id, count);
}

static uint32_t double_bar_red(struct rt_thread *t, uint32_t id, uint32_t count, uint32_t p,
                               uint32_t op)
{
    (void)t;
    note("bar_red %u %u %u %u\n", id, count, p, op);
    return p;
}

static void double_warp_sync(struct rt_thread *t, uint32_t mask)
{
    (void)t;
    note("warp_sync %x\n", mask);
}

/* Words and what is done with them are of no interest here. */
static void double_warp_words(struct rt_thread *t, rt_warp_fn operation, uint32_t mask)
{
    (void)t;
    (void)operation;
    note("warp_words %x\n", mask);
}

static uint64_t double_shfl(struct rt_thread *t, uint32_t mode, uint32_t value, uint32_t b,
                            uint32_t c, uint32_t mask)
{
    (void)t;
    note("shfl %u %u %u %u %x\n", mode, value, b, c, mask);
    return (UINT64_C(1) << 32) | (value + 1);
}

static uint32_t double_vote(struct rt_thread *t, uint32_t mode, uint32_t p, uint32_t mask)
{
    (void)t;
    note("vote %u %u %x\n", mode, p, mask);
    return mode == RT_VOTE_BALLOT ? mask : p;
}

static uint64_t double_match(struct rt_thread *t, uint32_t all, uint64_t value, uint32_t mask)
{
    (void)t;
    note("match %u %llx %x\n", all, (unsigned long long)value, mask);
    return (UINT64_C(1) << 32) | mask;
}

static uint32_t double_redux(struct rt_thread *t, uint32_t op, uint32_t value, uint32_t mask)
{
    (void)t;
    note("redux %u %u %x\n", op, value, mask);
    return value + 1;
}

static uint32_t double_activemask(struct rt_thread *t, uint32_t site)
{
    (void)t;
    note("activemask %u\n", site);
    return 0xf0u + site;
}

static void double_warp_converge(struct rt_thread *t, uint32_t site)
{
    (void)t;
    note("converge %u\n", site);
}

static uint64_t double_elect(struct rt_thread *t, uint32_t mask)
{
    (void)t;
    note("elect %x\n", mask);
    return (UINT64_C(1) << 32) | 3;
}

static uint32_t double_movmatrix(struct rt_thread *t, uint32_t pair, uint32_t mask)
{
    (void)t;
    note("movmatrix %u %x\n", pair, mask);
    return pair + 1;
}

static void double_poll(struct rt_thread *t)
{
    note("poll\n");
    t->poll_budget = running->poll_budget;
}

static void double_nanosleep(struct rt_thread *t, uint32_t ns)
{
    (void)t;
    note("nanosleep %u\n", ns);
}

static void double_exit(struct rt_thread *t)
{
    (void)t;
    note("exit\n");
    longjmp(thread_end, 1);
}

static void double_fault(struct rt_thread *t, uint32_t status, uint64_t address)
{
    (void)t;
    running->fault = (enum pxr_status)status;
    running->fault_address = address;
    longjmp(thread_end, 1);
}

static void double_unsupported(struct rt_thread *t, const char *message)
{
    note("unsupported %s\n", message);
    double_fault(t, PXR_FAULT_INSTRUCTION, 0);
}

static uint64_t double_clock(void)
{
    static uint64_t now = 0x500000000;
    return now++;
}

static int32_t double_vprintf(struct rt_thread *t, uint64_t format, uint64_t args)
{
    (void)t;
    int value = 0;
    memcpy(&value, (const void *)args, sizeof value);
    note("vprintf %s %d\n", (const char *)format, value);
    return 1;
}

static uint64_t double_malloc(struct rt_thread *t, uint64_t size)
{
    (void)t;
    note("malloc %llu\n", (unsigned long long)size);
    return 0x1000;
}

static void double_free(struct rt_thread *t, uint64_t pointer)
{
    (void)t;
    note("free %llx\n", (unsigned long long)pointer);
}

static void double_assertfail(struct rt_thread *t, uint64_t message, uint64_t file, uint32_t line,
                              uint64_t function, uint64_t char_bytes)
{
    (void)t;
    (void)message;
    (void)file;
    (void)function;
    note("assertfail %u %llu\n", line, (unsigned long long)char_bytes);
}

/* Notes the name and the arguments; of small structs the second number, a colon, the first, and the
 * third. */
static uint64_t double_device_runtime(struct rt_thread *t, uint32_t function, uint64_t arguments)
{
    const struct rt_device_function_info *info =
        &rt_device_functions[function & ~RT_DEVICE_PER_THREAD];
    const uint64_t *words = (const uint64_t *)(uintptr_t)arguments;
    (void)t;
    note("%s%s", info->name, function & RT_DEVICE_PER_THREAD ? " per thread" : "");
    for (unsigned i = 0; info->argument_bytes[i] != 0; i++) {
        uint64_t word = *words++;
        uint32_t bytes = info->argument_bytes[i];
        if (bytes == 12)
            note(" %llx:%llx %x", (unsigned long long)(word >> 32),
                 (unsigned long long)(word & UINT32_MAX), (unsigned)*words++);
        else
            note(" %llx", (unsigned long long)(bytes == 4 ? word & UINT32_MAX : word));
    }
    note("\n");
    return 0x500000007;
}

static const struct orc_symbol doubles[] = {
    {"rt_bar_sync", (void *)double_bar_sync},
    {"rt_bar_arrive", (void *)double_bar_arrive},
    {"rt_bar_red", (void *)double_bar_red},
    {"rt_warp_sync", (void *)double_warp_sync},
    {"rt_warp_words", (void *)double_warp_words},
    {"rt_warp_memory", (void *)double_warp_words},
    {"rt_shfl", (void *)double_shfl},
    {"rt_vote", (void *)double_vote},
    {"rt_match", (void *)double_match},
    {"rt_redux", (void *)double_redux},
    {"rt_activemask", (void *)double_activemask},
    {"rt_warp_converge", (void *)double_warp_converge},
    {"rt_elect", (void *)double_elect},
    {"rt_movmatrix", (void *)double_movmatrix},
    {"rt_poll", (void *)double_poll},
    {"rt_nanosleep", (void *)double_nanosleep},
    {"rt_exit", (void *)double_exit},
    {"rt_fault", (void *)double_fault},
    {"rt_unsupported", (void *)double_unsupported},
    {"rt_clock", (void *)double_clock},
    {"rt_globaltimer", (void *)double_clock},
    {"rt_vprintf", (void *)double_vprintf},
    {"rt_malloc", (void *)double_malloc},
    {"rt_free", (void *)double_free},
    {"rt_assertfail", (void *)double_assertfail},
    {"rt_device_runtime", (void *)double_device_runtime},
};

#define PAGE_BYTES   4096
#define DOUBLE_COUNT (sizeof doubles / sizeof doubles[0])

/* ---- compiling ---- */

static void check_llvm(LLVMErrorRef failure)
{
    if (failure != NULL)
        cr_assert_fail("LLVM: %s", LLVMGetErrorMessage(failure));
}

static void load_object(struct harness *harness, LLVMMemoryBufferRef object)
{
    check_llvm(LLVMOrcCreateLLJIT(&harness->jit, NULL));
    check_llvm(orc_define(harness->jit, doubles, DOUBLE_COUNT));
    LLVMOrcJITDylibRef dylib = LLVMOrcLLJITGetMainJITDylib(harness->jit);
    check_llvm(LLVMOrcLLJITAddObjectFile(harness->jit, dylib, object));
    LLVMOrcExecutorAddress address = 0;
    check_llvm(LLVMOrcLLJITLookup(harness->jit, &address, "ptxrun_kernel"));
    harness->entry = (void (*)(struct rt_thread *))address;
}

static enum pxr_status compile(struct harness *harness, bool check_alignment, struct pxr_error *err)
{
    struct jit_target *target;
    enum pxr_status status = jit_target_acquire(&target, err);
    if (status != PXR_OK)
        return status;
    struct tr_options options = {.check_alignment = check_alignment,
                                 .triple = target->triple,
                                 .data_layout = target->data_layout};
    harness->context = LLVMContextCreate();
    LLVMModuleRef module = NULL;
    status = tr_translate_kernel(harness->ptx, harness->kernel, &harness->layout, &options,
                                 harness->context, &module, err);
    if (status == PXR_OK) {
        harness->ir = LLVMPrintModuleToString(module);
        if (getenv("PTXRUN_TEST_IR") != NULL)
            fputs(harness->ir, stderr);
        struct tr_budget budget = {0};
        struct tr_compilation compilation = {.module = module, .budget = &budget};
        struct tr_collapse_options precise = {.collapse = PXR_COLLAPSE_PRECISE};
        struct tr_collapsed collapsed;
        status = tr_make_block(&compilation, NULL, &precise, &collapsed, err);
        free(collapsed.explanation);
        module = compilation.module;
    }
    if (status == PXR_OK && tr_has_flushing_sums(module))
        status = tr_call_flushing_sums(module, err);
    if (status == PXR_OK) {
        LLVMMemoryBufferRef object = NULL;
        char *message = NULL;
        tr_lower_whole_accesses(module, false);
        if (LLVMTargetMachineEmitToMemoryBuffer(target->machine, module, LLVMObjectFile, &message,
                                                &object))
            cr_assert_fail("%s", message);
        load_object(harness, object);
    }
    if (module != NULL)
        LLVMDisposeModule(module);
    jit_target_release(target);
    return status;
}

static void make_slots(struct harness *harness)
{
    harness->slots = calloc(harness->ptx->var_count + 1, sizeof *harness->slots);
    for (uint32_t i = 0; i < harness->ptx->var_count; i++) {
        const struct ptx_var *var = harness->ptx->vars[i];
        harness->slots[i] = calloc(1, var->size_bytes + 1);
        if (var->init_bytes != NULL)
            memcpy(harness->slots[i], var->init_bytes, var->size_bytes);
    }
}

static const struct ptx_func *first_entry(const struct ptx_module *ptx)
{
    for (uint32_t i = 0; i < ptx->func_count; i++)
        if (ptx->funcs[i]->is_entry)
            return ptx->funcs[i];
    return NULL;
}

enum pxr_status harness_open(struct harness *harness, const char *ptx, const char *kernel,
                             bool check_alignment, struct pxr_error *err)
{
    *harness = (struct harness){
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .poll_budget = 1000, .stack_bytes = 65536};
    enum pxr_status status = ptx_parse(pxr_str_from(ptx), "test.ptx", &harness->ptx, err);
    if (status != PXR_OK)
        return status;
    harness->kernel = kernel ? ptx_find_entry(harness->ptx, kernel) : first_entry(harness->ptx);
    if (harness->kernel == NULL)
        return pxr_fail(err, PXR_NOT_FOUND, "no kernel");
    status = ptx_layout_kernel(harness->ptx, harness->kernel, &harness->layout, err);
    if (status == PXR_OK)
        status = compile(harness, check_alignment, err);
    if (status == PXR_OK)
        make_slots(harness);
    return status;
}

void harness_close(struct harness *harness)
{
    if (harness->jit != NULL)
        check_llvm(LLVMOrcDisposeLLJIT(harness->jit));
    if (harness->context != NULL)
        LLVMContextDispose(harness->context);
    LLVMDisposeMessage(harness->ir);
    for (uint32_t i = 0; harness->slots != NULL && i < harness->ptx->var_count; i++)
        free(harness->slots[i]);
    free(harness->slots);
    ptx_layout_fini(&harness->layout);
    ptx_module_destroy(harness->ptx);
}

/* ---- running ---- */

/* The kernel is not code of this compiler: there is no type in front of it to be checked. */
__attribute__((no_sanitize("undefined"))) static void
run_thread(struct harness *harness, struct rt_block *block, uint32_t linear)
{
    const uint32_t *shape = harness->block;
    uint8_t *frame = __builtin_frame_address(0);
    /* Module-scope local variables lie below the limit, here in what the stack has not reached. */
    uint8_t *limit = frame - harness->stack_bytes;
    limit -= (uintptr_t)limit % PAGE_BYTES;
    struct rt_thread thread = {
        .block = block,
        .tid = {linear % shape[0], linear / shape[0] % shape[1], linear / shape[0] / shape[1]},
        .lane = linear % RT_WARP_SIZE,
        .warp = linear / RT_WARP_SIZE,
        .poll_budget = harness->poll_budget,
        .stack_limit = limit,
        .stack_base = frame,
    };
    if (setjmp(thread_end) == 0)
        harness->entry(&thread);
}

static void run_block(struct harness *harness, const struct rt_launch *launch, uint32_t linear)
{
    struct rt_block block = {
        .launch = launch,
        .ctaid = {linear % launch->grid[0], linear / launch->grid[0] % launch->grid[1],
                  linear / launch->grid[0] / launch->grid[1]},
        .shared = calloc(1, launch->shared_bytes + 1),
        .sm_id = 5,
    };
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    for (uint32_t i = 0; i < threads && harness->fault == PXR_OK; i++)
        run_thread(harness, &block, i);
    free(block.shared);
}

void harness_run(struct harness *harness, const void *params)
{
    struct rt_launch launch = {
        .params = params,
        .slots = harness->slots,
        .dynamic_shared_bytes = harness->dynamic_shared_bytes,
        .shared_bytes = harness->layout.shared_static_bytes + harness->dynamic_shared_bytes,
        .grid_id = 77,
        .grid_workspace = harness->grid_workspace,
        .cluster = {1, 1, 1},
        .cluster_blocks = 1,
        .sm_count = 9,
        .local_bytes = harness->layout.local_static_bytes,
    };
    memcpy(launch.grid, harness->grid, sizeof launch.grid);
    memcpy(launch.block, harness->block, sizeof launch.block);
    running = harness;
    harness->fault = PXR_OK;
    harness->log[0] = '\0';
    uint32_t blocks = launch.grid[0] * launch.grid[1] * launch.grid[2];
    for (uint32_t i = 0; i < blocks && harness->fault == PXR_OK; i++)
        run_block(harness, &launch, i);
}

void *harness_var(struct harness *harness, const char *name)
{
    const struct ptx_var *var = ptx_find_var(harness->ptx, name);
    return var != NULL ? harness->slots[var->index] : NULL;
}

/* ---- single instructions ---- */

static char *eval_text(const char *instructions)
{
    char *text = NULL;
    int len = asprintf(&text,
                       ".version 9.0\n.target sm_100a\n.address_size 64\n"
                       ".visible .entry eval(.param .u64 in, .param .u64 out)\n{\n"
                       ".reg .b64 %%in, %%out;\n.reg .pred %%p<16>;\n.reg .b16 %%h<16>;\n"
                       ".reg .b32 %%r<32>;\n.reg .b64 %%rd<32>;\n.reg .f32 %%f<32>;\n"
                       ".reg .f64 %%fd<32>;\n"
                       "ld.param.u64 %%in, [in];\nld.param.u64 %%out, [out];\n%s\nret;\n}\n",
                       instructions);
    cr_assert_gt(len, 0);
    return text;
}

void harness_eval(const char *instructions, const void *in, void *out)
{
    struct harness harness;
    struct pxr_error err = {0};
    char *text = eval_text(instructions);
    enum pxr_status status = harness_open(&harness, text, "eval", false, &err);
    cr_assert_eq(status, PXR_OK, "%s", err.message);
    struct {
        const void *in;
        void *out;
    } params = {in, out};
    harness_run(&harness, &params);
    cr_assert_eq(harness.fault, PXR_OK, "a fault");
    harness_close(&harness);
    free(text);
}

enum pxr_status harness_eval_status(const char *instructions, struct pxr_error *err)
{
    struct harness harness;
    char *text = eval_text(instructions);
    enum pxr_status status = harness_open(&harness, text, "eval", false, err);
    harness_close(&harness);
    free(text);
    return status;
}
