/* SPDX-License-Identifier: Apache-2.0
 *
 * From LLVM IR to running code: what the pass list and the code generator promise, whatever the
 * translator makes.
 */
#include <criterion/criterion.h>
#include <fenv.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit/compile.h"
#include "jit/elf_object.h"
#include "jit/jit.h"
#include "rt_stub.h"
#include "tests/support/leaks.h"

struct ir_work {
    const char *ir;
    const char *dump;
    const char *dump_dir;
    struct jit_object object;
};

static enum pxr_status compile_ir(void *argument, struct pxr_error *err)
{
    struct ir_work *work = argument;
    struct jit_unit unit;
    enum pxr_status status = jit_unit_init(&unit, err);
    if (status != PXR_OK)
        return status;
    unit.watch.dump =
        (struct jit_dump){.kinds = work->dump, .dir = work->dump_dir, .kernel = "kernel"};
    LLVMMemoryBufferRef text =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(work->ir, strlen(work->ir), "test.ll");
    char *message = NULL;
    if (LLVMParseIRInContext(unit.context, text, &unit.module, &message))
        status = pxr_fail(err, PXR_BAD_PTX, "%s", message ? message : unit.diagnostic.message);
    LLVMDisposeMessage(message);
    if (status == PXR_OK)
        status = jit_unit_emit(&unit, &work->object, err);
    jit_unit_fini(&unit);
    return status;
}

static struct jit_object compile(const char *ir)
{
    struct ir_work work = {.ir = ir};
    struct pxr_error err = {0};
    cr_assert_eq(jit_run_work(compile_ir, &work, NULL, &err), PXR_OK, "%s", err.message);
    return work.object;
}

static struct jit_code *compile_and_load(const char *ir)
{
    struct jit_object object = compile(ir);
    struct jit_code *code;
    struct pxr_error err = {0};
    cr_assert_eq(jit_load(&object, &(struct jit_loading){.kernel = "kernel"}, &code, &err), PXR_OK,
                 "%s", err.message);
    jit_object_fini(&object);
    return code;
}

/* Memory the test kernels work on: they see it as their rt_thread. */
union scratch {
    struct rt_thread thread;
    double f64[8];
    float f32[16];
    uint32_t u32[16];
};

static void run(const char *ir, union scratch *scratch)
{
    struct jit_code *code = compile_and_load(ir);
    jit_code_entry(code)(&scratch->thread);
    jit_unload(code);
}

static const char loop_ir[] =
    "@table = internal constant [4 x i32] [i32 5, i32 7, i32 11, i32 13]\n"
    "declare void @rt_bar_sync(ptr, i32, i32)\n"
    "define internal i32 @memcpy(i32 %x) {\n"
    "  %p = getelementptr [4 x i32], ptr @table, i32 0, i32 %x\n"
    "  %v = load i32, ptr %p\n"
    "  ret i32 %v\n"
    "}\n"
    "define void @ptxrun_kernel(ptr %ctx) {\n"
    "entry:\n"
    "  br label %loop\n"
    "loop:\n"
    "  %i = phi i32 [ 0, %entry ], [ %j, %loop ]\n"
    "  %s = phi i32 [ 0, %entry ], [ %t, %loop ]\n"
    "  %v = call i32 @memcpy(i32 %i)\n"
    "  %t = add i32 %s, %v\n"
    "  call void @rt_bar_sync(ptr %ctx, i32 %i, i32 %t)\n"
    "  %j = add i32 %i, 1\n"
    "  %c = icmp ult i32 %j, 4\n"
    "  br i1 %c, label %loop, label %done\n"
    "done:\n"
    "  store i32 %t, ptr %ctx\n"
    "  ret void\n"
    "}\n";

Test(compile, module_becomes_running_code)
{
    union scratch scratch = {0};
    run(loop_ir, &scratch);
    cr_expect_eq(scratch.u32[0], 36);
    cr_expect_eq(rt_stub.bar_sync_calls, 4);
    cr_expect_eq(rt_stub.bar_sync_count, 36);
}

Test(compile, same_module_gives_the_same_bytes)
{
    struct jit_object first = compile(loop_ir);
    void *disturb = malloc(12345);
    struct jit_object second = compile(loop_ir);
    free(disturb);
    cr_assert_eq(first.size_bytes, second.size_bytes);
    cr_expect_eq(memcmp(first.bytes, second.bytes, first.size_bytes), 0);
    jit_object_fini(&first);
    jit_object_fini(&second);
}

Test(compile, product_and_sum_are_rounded_separately)
{
    /* (1 + 2^-12)^2 - (1 + 2^-11): 0 with two roundings, 2^-24 when fused. */
    union scratch scratch = {.f32 = {1.000244140625f, -1.00048828125f}};
    run("define void @ptxrun_kernel(ptr %p) {\n"
        "  %q = getelementptr float, ptr %p, i32 1\n"
        "  %a = load float, ptr %p\n"
        "  %b = load float, ptr %q\n"
        "  %m = fmul float %a, %a\n"
        "  %s = fadd float %m, %b\n"
        "  store float %s, ptr %p\n"
        "  ret void\n"
        "}\n",
        &scratch);
    cr_expect_eq(scratch.f32[0], 0.0f);
}

Test(compile, fma_is_one_rounding)
{
    union scratch scratch = {.f32 = {1.000244140625f, -1.00048828125f}};
    run("declare float @llvm.fma.f32(float, float, float)\n"
        "define void @ptxrun_kernel(ptr %p) {\n"
        "  %q = getelementptr float, ptr %p, i32 1\n"
        "  %a = load float, ptr %p\n"
        "  %b = load float, ptr %q\n"
        "  %s = call float @llvm.fma.f32(float %a, float %a, float %b)\n"
        "  store float %s, ptr %p\n"
        "  ret void\n"
        "}\n",
        &scratch);
    cr_expect_eq(scratch.f32[0], 0x1p-24f);
}

Test(compile, functions_named_like_library_functions_do_not_replace_them)
{
    union scratch scratch = {.f64 = {5.5, 2.0}};
    run("define internal double @fmod(double %a, double %b) noinline {\n"
        "  %s = fadd double %a, %b\n"
        "  ret double %s\n"
        "}\n"
        "define void @ptxrun_kernel(ptr %p) {\n"
        "  %q = getelementptr double, ptr %p, i32 1\n"
        "  %a = load double, ptr %p\n"
        "  %b = load double, ptr %q\n"
        "  %m = frem double %a, %b\n"
        "  %s = call double @fmod(double %a, double %b)\n"
        "  store double %m, ptr %p\n"
        "  store double %s, ptr %q\n"
        "  ret void\n"
        "}\n",
        &scratch);
    cr_expect_eq(scratch.f64[0], 1.5);
    cr_expect_eq(scratch.f64[1], 7.5);
}

Test(compile, helpers_made_for_another_processor_are_inlined)
{
    struct jit_object object = compile("define internal i32 @rt_helper(i32 %x) alwaysinline "
                                       "\"target-cpu\"=\"x86-64\" \"target-features\"=\"+sse2\" {\n"
                                       "  %r = add i32 %x, 1\n"
                                       "  ret i32 %r\n"
                                       "}\n"
                                       "define void @ptxrun_kernel(ptr %p) {\n"
                                       "  %a = load i32, ptr %p\n"
                                       "  %b = call i32 @rt_helper(i32 %a)\n"
                                       "  store i32 %b, ptr %p\n"
                                       "  ret void\n"
                                       "}\n");
    struct elf_object elf;
    cr_assert_eq(elf_object_init(&elf, object.bytes, object.size_bytes, NULL), PXR_OK);
    for (uint32_t i = 1; i < elf.symbol_count; i++) {
        Elf64_Sym symbol = elf_symbol(&elf, i);
        cr_expect_null(strstr(elf_symbol_name(&elf, &symbol), "rt_helper"));
    }
    cr_expect_eq(elf_find_section(&elf, ".eh_frame"), 0);
    elf_object_fini(&elf);
    jit_object_fini(&object);
}

Test(compile, pc_of_a_call_has_its_ptx_line)
{
    struct jit_code *code = compile_and_load(
        "declare void @rt_bar_sync(ptr, i32, i32)\n"
        "define void @ptxrun_kernel(ptr %ctx) !dbg !5 {\n"
        "  call void @rt_bar_sync(ptr %ctx, i32 0, i32 0), !dbg !6\n"
        "  call void @rt_bar_sync(ptr %ctx, i32 1, i32 0), !dbg !7\n"
        "  store i32 1, ptr %ctx, !dbg !8\n"
        "  ret void, !dbg !8\n"
        "}\n"
        "!llvm.dbg.cu = !{!0}\n"
        "!llvm.module.flags = !{!2}\n"
        "!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, producer: \"ptxrun\", "
        "isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)\n"
        "!1 = !DIFile(filename: \"a.ptx\", directory: \"\")\n"
        "!2 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
        "!3 = !DISubroutineType(types: !4)\n"
        "!4 = !{}\n"
        "!5 = distinct !DISubprogram(name: \"k\", scope: !1, file: !1, line: 10, type: !3, "
        "scopeLine: 10, spFlags: DISPFlagDefinition, unit: !0)\n"
        "!6 = !DILocation(line: 118, scope: !5)\n"
        "!7 = !DILocation(line: 70123, scope: !5)\n"
        "!8 = !DILocation(line: 70125, scope: !5)\n");
    union scratch scratch = {0};
    jit_code_entry(code)(&scratch.thread);
    cr_expect_eq(jit_code_line(code, rt_stub.return_address - 1), 70123);
    cr_expect_neq(jit_code_line(code, (uintptr_t)jit_code_entry(code)), 0);
    jit_unload(code);
}

#define CHAIN_IR(kernel_call)                                                                      \
    "declare void @rt_poll(ptr)\n"                                                                 \
    "define internal void @leaf(ptr %p) noinline {\n"                                              \
    "  %a = alloca [1000 x i8]\n"                                                                  \
    "  call void @rt_poll(ptr %a)\n"                                                               \
    "  call void @rt_poll(ptr %p)\n"                                                               \
    "  ret void\n"                                                                                 \
    "}\n"                                                                                          \
    "define internal void @middle(ptr %p) noinline {\n"                                            \
    "  %a = alloca [2000 x i8]\n"                                                                  \
    "  call void @leaf(ptr %a)\n"                                                                  \
    "  call void @leaf(ptr %p)\n"                                                                  \
    "  ret void\n"                                                                                 \
    "}\n"                                                                                          \
    "define internal void @recursive(ptr %p) noinline {\n"                                         \
    "  %c = icmp eq ptr %p, null\n"                                                                \
    "  br i1 %c, label %again, label %done\n"                                                      \
    "again:\n"                                                                                     \
    "  call void @recursive(ptr %p)\n"                                                             \
    "  call void @rt_poll(ptr %p)\n"                                                               \
    "  ret void\n"                                                                                 \
    "done:\n"                                                                                      \
    "  ret void\n"                                                                                 \
    "}\n"                                                                                          \
    "define void @ptxrun_kernel(ptr %p) {\n"                                                       \
    "  call void @middle(ptr %p)\n" kernel_call "  ret void\n"                                     \
    "}\n"

Test(compile, stack_of_the_deepest_call_chain_is_known)
{
    struct jit_object object = compile(CHAIN_IR("  call void @leaf(ptr %p)\n"));
    cr_expect_geq(object.frame_bytes, 3000 + 3 * 8);
    cr_expect_leq(object.frame_bytes, 3200);
    jit_object_fini(&object);
}

#define PASSES_IR                                                                                  \
    "declare void @rt_warp_words(ptr, ptr, i32)\n"                                                 \
    "define internal void @operation(ptr %p, i32 %live) noinline {\n"                              \
    "  %a = alloca [30000 x i8]\n"                                                                 \
    "  call void @rt_warp_words(ptr %a, ptr null, i32 %live)\n"                                    \
    "  ret void\n"                                                                                 \
    "}\n"                                                                                          \
    "define void @ptxrun_kernel(ptr %p) {\n"                                                       \
    "  call void @rt_warp_words(ptr %p, ptr @operation, i32 -1)\n"                                 \
    "  ret void\n"                                                                                 \
    "}\n"

Test(compile, stack_of_functions_that_are_passed_on_counts)
{
    struct jit_object object = compile(PASSES_IR);
    cr_expect_geq(object.frame_bytes, 30000);
    cr_expect_leq(object.frame_bytes, 30400);
    jit_object_fini(&object);
}

Test(compile, stack_of_recursion_and_of_indirect_calls_is_unknown)
{
    struct jit_object object = compile(CHAIN_IR("  call void @recursive(ptr %p)\n"));
    cr_expect_eq(object.frame_bytes, 0);
    jit_object_fini(&object);
    object = compile(CHAIN_IR("  %f = load ptr, ptr %p\n  call void %f(ptr %p)\n"));
    cr_expect_eq(object.frame_bytes, 0);
    jit_object_fini(&object);
}

static char *read_text(const char *dir, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    char *text = calloc(1, 65536);
    size_t len = fread(text, 1, 65535, file);
    (void)len;
    fclose(file);
    unlink(path);
    return text;
}

Test(compile, dumps_are_files_named_after_the_kernel)
{
    char dir[] = "/tmp/ptxrun-test-XXXXXX";
    cr_assert_not_null(mkdtemp(dir));
    struct ir_work work = {.ir = loop_ir, .dump = "opt,asm", .dump_dir = dir};
    cr_assert_eq(jit_run_work(compile_ir, &work, NULL, NULL), PXR_OK);
    struct jit_object plain = compile(loop_ir);
    cr_expect_eq(plain.size_bytes, work.object.size_bytes);
    cr_expect_eq(memcmp(plain.bytes, work.object.bytes, plain.size_bytes), 0,
                 "dumping changes the code");
    char *opt = read_text(dir, "kernel.opt.ll");
    char *assembly = read_text(dir, "kernel.s");
    cr_assert_not_null(opt);
    cr_assert_not_null(assembly);
    cr_expect_not_null(strstr(opt, "define void @ptxrun_kernel("));
    cr_expect_not_null(strstr(assembly, "ptxrun_kernel:"));
    cr_expect_eq(rmdir(dir), 0, "other files were left behind");
    free(opt);
    free(assembly);
    jit_object_fini(&plain);
    jit_object_fini(&work.object);
}

Test(compile, module_without_kernel_is_an_error)
{
    struct ir_work work = {.ir = "define void @f() {\n  ret void\n}\n"};
    struct pxr_error err = {0};
    cr_expect_eq(jit_run_work(compile_ir, &work, NULL, &err), PXR_COMPILE_FAILED);
    cr_expect_not_null(strstr(err.message, "no kernel"));
}

/* An error LLVM reports as a diagnostic, and one after which it would end the process. */
static const char *const broken[] = {
    "define void @ptxrun_kernel(ptr %p) {\n"
    "  call void asm sideeffect \"no_such_instruction\", \"\"()\n"
    "  ret void\n"
    "}\n",
    "declare <4 x i32> @llvm.aarch64.crypto.sha1c(<4 x i32>, i32, <4 x i32>)\n"
    "declare {i64, i32} @llvm.x86.rdtscp()\n"
    "declare i64 @llvm.ppc.get.texasr()\n"
    "define void @ptxrun_kernel(ptr %p) {\n"
    "  %v = call i64 @llvm.ppc.get.texasr()\n"
    "  store i64 %v, ptr %p\n"
    "  ret void\n"
    "}\n",
};

Test(compile, failures_of_llvm_are_errors_and_print_nothing)
{
    FILE *capture = tmpfile();
    int before = dup(STDERR_FILENO);
    forgive_leaks();
    dup2(fileno(capture), STDERR_FILENO);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        struct ir_work work = {.ir = broken[i]};
        struct pxr_error err = {0};
        cr_expect_eq(jit_run_work(compile_ir, &work, NULL, &err), PXR_COMPILE_FAILED);
        cr_expect_neq(err.message[0], '\0');
        cr_expect_null(work.object.bytes);
    }
    dup2(before, STDERR_FILENO);
    fseek(capture, 0, SEEK_END);
    cr_expect_eq(ftell(capture), 0, "LLVM wrote to standard error");
    fclose(capture);
    union scratch scratch = {0};
    run(loop_ir, &scratch); // and compiling still works
    cr_expect_eq(scratch.u32[0], 36);
}

static _Thread_local sigjmp_buf *landing;

static void leave(int number)
{
    (void)number;
    siglongjmp(*landing, 1);
}

static bool guard(void (*run)(void *argument), void *argument)
{
    sigjmp_buf here;
    if (sigsetjmp(here, 1))
        return false;
    landing = &here;
    run(argument);
    return true;
}

static enum pxr_status fault(void *argument, struct pxr_error *err)
{
    (void)argument;
    (void)err;
    raise(SIGSEGV);
    return PXR_OK;
}

static enum pxr_status catch_fault(void *argument, struct pxr_error *err)
{
    return jit_catch_fatal(fault, argument, err);
}

/* LLVM's code generator does so now and then. */
Test(compile, a_fault_of_llvm_is_an_error)
{
    struct sigaction before;
    sigaction(SIGSEGV, &(struct sigaction){.sa_handler = leave}, &before);
    for (int i = 0; i < 3; i++) {
        struct pxr_error err = {0};
        cr_expect_eq(jit_run_work(catch_fault, NULL, guard, &err), PXR_COMPILE_FAILED);
        cr_expect_str_eq(err.message, "LLVM has crashed");
    }
    sigaction(SIGSEGV, &before, NULL);
    union scratch scratch = {0};
    run(loop_ir, &scratch); // and compiling still works
    cr_expect_eq(scratch.u32[0], 36);
}

static enum pxr_status check_thread_state(void *argument, struct pxr_error *err)
{
    (void)err;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    *(bool *)argument = fegetround() == FE_TONEAREST && sigismember(&mask, SIGALRM) == 1;
    return PXR_OK;
}

Test(compile, the_callers_rounding_and_signals_do_not_reach_llvm)
{
    bool is_clean = false;
    fesetround(FE_UPWARD);
    enum pxr_status status = jit_run_work(check_thread_state, &is_clean, NULL, NULL);
    fesetround(FE_TONEAREST);
    cr_expect_eq(status, PXR_OK);
    cr_expect(is_clean);
}

static void *compile_several(void *argument)
{
    const struct jit_object *expected = argument;
    for (int i = 0; i < 5; i++) {
        struct jit_object object = compile(loop_ir);
        cr_assert_eq(object.size_bytes, expected->size_bytes);
        cr_assert_eq(memcmp(object.bytes, expected->bytes, object.size_bytes), 0);
        jit_object_fini(&object);
    }
    return argument;
}

Test(compile, threads_compile_at_once_with_the_same_result)
{
    struct jit_object expected = compile(loop_ir);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, compile_several, &expected), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    jit_object_fini(&expected);
}
