/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps that only the quick tier has: module/low_bits.c, tr_call_helpers, and
 * collapse/place_values.c.
 */
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>

#include "translator/collapse/collapsing.h"
#include "translator/module/link_rt.h"
#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

static LLVMContextRef context;

static LLVMModuleRef parse(const char *text)
{
    char *message = NULL;
    LLVMModuleRef module = NULL;
    context = LLVMContextCreate();
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "test.ll");
    if (LLVMParseIRInContext(context, buffer, &module, &message))
        cr_assert_fail("%s", message);
    return module;
}

static void close_module(LLVMModuleRef module)
{
    char *message = NULL;
    cr_expect_not(LLVMVerifyModule(module, LLVMReturnStatusAction, &message), "%s", message);
    LLVMDisposeMessage(message);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

/* The first instruction of this name in the module's first function with a body, or the first with
 * the opcode. */
static LLVMValueRef find(LLVMModuleRef module, const char *name, LLVMOpcode opcode)
{
    LLVMValueRef f = LLVMGetFirstFunction(module);
    while (LLVMIsDeclaration(f))
        f = LLVMGetNextFunction(f);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL;
             inst = LLVMGetNextInstruction(inst))
            if (name != NULL ? strcmp(LLVMGetValueName(inst), name) == 0
                             : LLVMGetInstructionOpcode(inst) == opcode)
                return inst;
    return NULL;
}

/* ---- checks of alignment ---- */

#define ASKS(type, body, low, mask)                                                                \
    "define i1 @f(i64 %base, i32 %i, ptr %p) {\n" body "  %low = and " type " " low ", " mask "\n" \
    "  %is_wrong = icmp ne " type " %low, 0\n  ret i1 %is_wrong\n}\n"

static const struct {
    const char *text;
    const char *asked; /* the value whose low bits are asked for behind the step */
} checks[] = {
    {ASKS("i64",
          "  %w = sext i32 %i to i64\n  %o = mul i64 %w, 4\n  %a = add i64 %base, %o\n"
          "  %b = add i64 %a, 8\n",
          "%b", "3"),
     "base"},
    {ASKS("i64", "  %a = add i64 %base, 2\n", "%a", "3"), "a"},
    {ASKS("i64", "  %a = add i64 %base, 12\n", "%a", "7"), "a"},
    {ASKS("i64", "  %w = zext i32 %i to i64\n  %o = shl i64 %w, 2\n  %a = add i64 %o, %base\n",
          "%a", "7"),
     "a"},
    {ASKS("i64", "  %w = zext i32 %i to i64\n  %o = shl i64 %w, 3\n  %a = add i64 %o, %base\n",
          "%a", "7"),
     "base"},
    {ASKS("i64", "  %a = sub i64 %base, 16\n", "%a", "15"), "base"},
    {ASKS("i64", "  %a = sub i64 16, %base\n", "%a", "15"), "a"},
    {ASKS("i64", "  %j = add i32 %i, -132\n  %w = sext i32 %j to i64\n", "%w", "3"), "i"},
    {ASKS("i64", "  %o = mul i64 %base, 6\n  %a = add i64 %o, %base\n", "%a", "3"), "a"},
    {ASKS("i64", "  %t = trunc i64 %base to i8\n  %w = zext i8 %t to i64\n", "%w", "3"), "w"},
    {ASKS("i64", "  %q = getelementptr i8, ptr %p, i64 64\n  %a = ptrtoint ptr %q to i64\n", "%a",
          "15"),
     "p"},
    {ASKS("i64", "  %q = getelementptr i32, ptr %p, i64 64\n  %a = ptrtoint ptr %q to i64\n", "%a",
          "15"),
     "q"},
    {ASKS("i64",
          "  %q = inttoptr i64 %base to ptr\n  %r = getelementptr i8, ptr %q, i64 4\n"
          "  %a = ptrtoint ptr %r to i64\n",
          "%a", "3"),
     "base"},
    {ASKS("i64", "  %a = add i64 %base, 4\n", "%a", "5"), "a"}, /* no alignment */
};

Test(quick, a_check_of_alignment_asks_for_the_low_bits_of_what_decides_them)
{
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        LLVMModuleRef module = parse(checks[i].text);
        tr_ask_low_bits(module);
        LLVMValueRef question = find(module, NULL, LLVMICmp);
        LLVMValueRef low = LLVMGetOperand(question, 0);
        cr_assert_eq(LLVMGetInstructionOpcode(low), LLVMAnd);
        LLVMValueRef asked = LLVMGetOperand(low, 0);
        if (LLVMIsAPtrToIntInst(asked))
            asked = LLVMGetOperand(asked, 0);
        cr_expect_str_eq(LLVMGetValueName(asked), checks[i].asked, "%zu", i);
        close_module(module);
    }
}

/* ---- helpers that are called ---- */

#define TIMES_4(text)  text text text text
#define TIMES_16(text) TIMES_4(TIMES_4(text))
#define LONG_BODY      TIMES_16("  call void @llvm.donothing()\n")

static const char helpers[] =
    "declare void @llvm.donothing()\ndeclare void @rt_fault(ptr, i32, i64)\n"
    "define void @kernel(ptr %p) {\n" TIMES_16(TIMES_4(
        "  call void @often(ptr %p)\n  call void @tiny(ptr %p)\n  call void @stores(ptr %p)\n"
        "  call void @faults(ptr %p)\n  call void @around(ptr %p)\n  call void @into(ptr "
        "%p)\n")) "  call void @seldom(ptr %p)\n  ret void\n}\n"
                  "define internal void @often(ptr %p) alwaysinline {\n" LONG_BODY "  ret void\n}\n"
                  "define internal void @seldom(ptr %p) alwaysinline {\n" LONG_BODY
                  "  ret void\n}\n"
                  "define internal void @tiny(ptr %p) alwaysinline {\n  ret void\n}\n"
                  "define internal void @stores(ptr %p) alwaysinline {\n" LONG_BODY
                  "  store i32 0, ptr %p\n  ret void\n}\n"
                  "define internal void @faults(ptr %p) alwaysinline {\n" LONG_BODY
                  "  call void @rt_fault(ptr %p, i32 1, i64 0)\n  ret void\n}\n"
                  "define internal void @around(ptr %p) alwaysinline {\n" LONG_BODY
                  "  call void @seldom(ptr %p)\n  ret void\n}\n"
                  "define internal void @into(ptr %p) alwaysinline {\n" LONG_BODY
                  "  call void @stores(ptr %p)\n  ret void\n}\n";

Test(quick, long_helpers_that_only_compute_are_called_where_they_are_called_often)
{
    static const struct {
        const char *name;
        bool is_inlined;
    } rows[] = {{"often", false}, {"seldom", true},  {"tiny", true}, {"stores", true},
                {"faults", true}, {"around", false}, {"into", true}};
    LLVMModuleRef module = parse(helpers);
    tr_call_helpers(module);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_eq(tr_is_always_inline(LLVMGetNamedFunction(module, rows[i].name)),
                     rows[i].is_inlined, "%s", rows[i].name);
    close_module(module);
}

static const char modes[] =
    "declare void @llvm.donothing()\n"
    "define i32 @helper(i32 %a, i32 %format, i32 %mode) alwaysinline {\n" LONG_BODY
    "  %b = add i32 %a, %format\n  %c = add i32 %b, %mode\n  ret i32 %c\n}\n"
    "define i32 @user(i32 %x) {\n" TIMES_16(
        TIMES_4("  call i32 @helper(i32 %x, i32 7, i32 1)\n")) "  %y = call i32 @helper(i32 5, i32 "
                                                               "7, i32 2)\n  ret i32 %y\n}\n";

Test(quick, what_all_calls_say_alike_a_helper_does_not_ask)
{
    LLVMModuleRef module = parse(modes);
    LLVMValueRef helper = LLVMGetNamedFunction(module, "helper");
    tr_call_helpers(module);
    cr_expect_not(tr_is_always_inline(helper));
    cr_expect_not_null(LLVMGetFirstUse(LLVMGetParam(helper, 0)));
    cr_expect_null(LLVMGetFirstUse(LLVMGetParam(helper, 1)));
    cr_expect_not_null(LLVMGetFirstUse(LLVMGetParam(helper, 2)));
    LLVMValueRef sum = find(module, "b", LLVMAdd);
    cr_expect_eq(LLVMConstIntGetZExtValue(LLVMGetOperand(sum, 1)), 7);
    close_module(module);
}

/* ---- places ---- */

/* In the function of the blocks, %0 is the block's record, which begins with the launch's. */
static const char loops[] =
    "declare void @rt_fault(ptr, i32, i64)\n"
    "define void @ptxrun_kernel(ptr %0, i32 %1) {\nentry:\n  br label %block\n"
    "block:\n  %left = phi i32 [ %1, %entry ], [ %next, %done ]\n"
    "  %field = getelementptr i8, ptr %0, i64 16\n  %ctaid = load i32, ptr %field\n"
    "  br label %x\n"
    "x:\n  %tid = phi i32 [ 0, %block ], [ %more, %latch ]\n"
    "  %launch = load ptr, ptr %0, !invariant.load !0\n"
    "  %params = load ptr, ptr %launch, !invariant.load !0\n"
    "  %base = load i64, ptr %params, !invariant.load !0\n"
    "  %low = and i64 %base, 3\n  %is_wrong = icmp ne i64 %low, 0\n"
    "  %first = mul i32 %ctaid, 128\n  %index = add i32 %first, %tid\n"
    "  %quotient = udiv i32 7, %1\n"
    "  %wide = sext i32 %index to i64\n  %offset = shl i64 %wide, 2\n"
    "  %address = add i64 %base, %offset\n  %other = xor i64 %offset, 1\n"
    "  br i1 %is_wrong, label %fault, label %body\n"
    "fault:\n  call void @rt_fault(ptr %0, i32 14, i64 %address)\n  unreachable\n"
    "body:\n  %array = inttoptr i64 %base to ptr\n"
    "  %changing = load i64, ptr %array\n  %user = load i64, ptr %array, !invariant.load !0\n"
    "  %sum = add i64 %changing, %user\n  %all = add i64 %sum, %other\n"
    "  store i64 %all, ptr %array\n  br label %latch\n"
    "latch:\n  %more = add i32 %tid, 1\n  %again = icmp ult i32 %more, %quotient\n"
    "  br i1 %again, label %x, label %done\n"
    "done:\n  %next = sub i32 %left, 1\n  %is_last = icmp eq i32 %next, 0\n"
    "  br i1 %is_last, label %end, label %block\nend:\n  ret void\n}\n!0 = !{}\n";

Test(quick, values_go_before_the_loops_over_threads_or_to_the_faults_that_need_them)
{
    static const char *const rows[][2] = {
        {"launch", "entry"},  {"params", "entry"},   {"base", "entry"},
        {"low", "entry"},     {"is_wrong", "entry"}, {"first", "block"},
        {"ctaid", "block"},   {"index", "x"},        {"quotient", "x"}, /* may trap */
        {"address", "fault"}, {"offset", "x"},       {"array", "entry"},
        {"changing", "body"}, {"user", "body"}, /* of the program's memory: the address may be bad
                                                 */
        {"other", "x"},       {"sum", "body"}};
    LLVMValueRef insts[sizeof rows / sizeof rows[0]];
    LLVMModuleRef module = parse(loops);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        insts[i] = find(module, rows[i][0], (LLVMOpcode)0);
        cr_assert_not_null(insts[i], "%s", rows[i][0]);
    }
    tr_place_values(LLVMGetNamedFunction(module, "ptxrun_kernel"));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_str_eq(LLVMGetBasicBlockName(LLVMGetInstructionParent(insts[i])), rows[i][1],
                         "%s", rows[i][0]);
    close_module(module);
}
