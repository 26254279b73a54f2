/* SPDX-License-Identifier: Apache-2.0
 *
 * Halves of 64 bits that are shuffled alike: which are shuffled whole, and that the function stores
 * the same as before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/Target.h>

#include "tests/unit/vector/parse_ir.h"
#include "translator/module/module_steps.h"

enum { LANES = 4, ALL = 8, POISON = -1 };

/* The lanes that each half of all eight comes from, those of two vectors, then four of these. */
struct masks {
    int all[2][ALL];
    int some[2][LANES];
};

static void print_mask(FILE *out, const int *lanes, int count)
{
    fprintf(out, "<%d x i32> <", count);
    for (int i = 0; i < count; i++) {
        fputs(i > 0 ? ", i32 " : "i32 ", out);
        if (lanes[i] == POISON)
            fputs("poison", out);
        else
            fprintf(out, "%d", lanes[i]);
    }
    fputs(">\n", out);
}

/* As a warp's shuffles become: upper and lower halves of two vectors, shuffled, put together. end:
 * what follows. malloc. */
static char *text_of(const struct masks *masks, const char *end)
{
    static const char halves[2] = {'h', 'l'};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    cr_assert_not_null(out);
    fputs("define void @f(ptr %p) {\n"
          "  %a = load <4 x i64>, ptr %p, align 8\n"
          "  %q = getelementptr i8, ptr %p, i64 32\n"
          "  %b = load <4 x i64>, ptr %q, align 8\n"
          "  %au = lshr <4 x i64> %a, splat (i64 32)\n  %bu = lshr <4 x i64> %b, splat (i64 32)\n"
          "  %ah = trunc <4 x i64> %au to <4 x i32>\n  %bh = trunc <4 x i64> %bu to <4 x i32>\n"
          "  %al = trunc <4 x i64> %a to <4 x i32>\n  %bl = trunc <4 x i64> %b to <4 x i32>\n",
          out);
    for (int i = 0; i < 2; i++) {
        char half = halves[i];
        fprintf(out, "  %%all%c = shufflevector <4 x i32> %%a%c, <4 x i32> %%b%c, ", half, half,
                half);
        print_mask(out, masks->all[i], ALL);
        fprintf(out, "  %%some%c = shufflevector <8 x i32> %%all%c, <8 x i32> poison, ", half,
                half);
        print_mask(out, masks->some[i], LANES);
        fprintf(out, "  %%z%c = zext <4 x i32> %%some%c to <4 x i64>\n", half, half);
    }
    fprintf(out, "%s  store <4 x i64> %%sum, ptr %%p, align 8\n  ret void\n}\n", end);
    fclose(out);
    return text;
}

static const char put_together[] = "  %up = shl nuw <4 x i64> %zh, splat (i64 32)\n"
                                   "  %sum = or disjoint <4 x i64> %up, %zl\n";

static void run(LLVMModuleRef module, uint64_t *data)
{
    LLVMExecutionEngineRef engine = NULL;
    char *message = NULL;
    LLVMLinkInMCJIT();
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    cr_assert(
        !LLVMCreateMCJITCompilerForModule(&engine, LLVMCloneModule(module), NULL, 0, &message),
        "%s", message);
    void (*f)(uint64_t *) = (void (*)(uint64_t *))LLVMGetFunctionAddress(engine, "f");
    f(data);
    LLVMDisposeExecutionEngine(engine);
}

/* Whether no half is left; lanes that are no poison must be as before. */
__attribute__((no_sanitize("undefined"))) static bool is_widened(const struct masks *masks,
                                                                 const char *end)
{
    uint64_t before[2 * LANES], after[2 * LANES];
    LLVMContextRef context = LLVMContextCreate();
    char *text = text_of(masks, end);
    LLVMModuleRef module = parse_ir(context, text);
    for (int i = 0; i < 2 * LANES; i++)
        before[i] = after[i] = UINT64_C(0x1000000020) * (uint64_t)(i + 1);
    run(module, before);
    tr_widen_shuffles(module);
    cr_assert(!LLVMVerifyModule(module, LLVMReturnStatusAction, NULL));
    run(module, after);
    for (int i = 0; i < LANES; i++) {
        int from = masks->some[0][i];
        if (from != POISON && masks->all[0][from] != POISON)
            cr_expect_eq(before[i], after[i], "%s", text);
    }
    char *made = LLVMPrintModuleToString(module);
    bool is_whole = strstr(made, "trunc") == NULL && strstr(made, "zext") == NULL;
    LLVMDisposeMessage(made);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    free(text);
    return is_whole;
}

static const struct masks down_by_two = {
    .all = {{2, 3, 4, 5, 6, 7, 6, 7}, {2, 3, 4, 5, 6, 7, 6, 7}},
    .some = {{0, 1, 2, 3}, {0, 1, 2, 3}}};

Test(wide_shuffles, halves_from_the_same_lanes_are_shuffled_whole)
{
    cr_expect(is_widened(&down_by_two, put_together));
    cr_expect(is_widened(&down_by_two, "  %up = shl <4 x i64> %zh, splat (i64 32)\n"
                                       "  %sum = or <4 x i64> %zl, %up\n"));
    struct masks masks = down_by_two;
    masks.all[0][3] = masks.all[1][3] = POISON;
    cr_expect(is_widened(&masks, put_together));
}

Test(wide_shuffles, others_stay)
{
    struct masks masks = down_by_two;
    masks.all[1][2] = 0;
    cr_expect(!is_widened(&masks, put_together), "halves of different lanes");
    masks = down_by_two;
    masks.some[0][1] = 5;
    cr_expect(!is_widened(&masks, put_together), "halves of different lanes of the first shuffle");
    cr_expect(!is_widened(&down_by_two, "  %up = shl <4 x i64> %zl, splat (i64 32)\n"
                                        "  %sum = or disjoint <4 x i64> %up, %zh\n"),
              "halves that change places");
    cr_expect(!is_widened(&down_by_two, "  %up = shl <4 x i64> %zh, splat (i64 31)\n"
                                        "  %sum = or <4 x i64> %up, %zl\n"),
              "not put together");
    cr_expect(!is_widened(&down_by_two, "  %up = shl nuw <4 x i64> %zh, splat (i64 32)\n"
                                        "  %own = or disjoint <4 x i64> %up, %zl\n"
                                        "  %sum = add <4 x i64> %own, %zl\n"),
              "a half is needed alone");
}

/* Most are alike, some in all lanes but one. */
Test(wide_shuffles, random_lanes)
{
    unsigned seed = 5, widened = 0;
    for (int round = 0; round < 200; round++) {
        struct masks masks;
        for (int i = 0; i < ALL; i++)
            masks.all[0][i] = masks.all[1][i] = (int)((unsigned)rand_r(&seed) % (ALL + 1)) - 1;
        for (int i = 0; i < LANES; i++)
            masks.some[0][i] = masks.some[1][i] = (int)((unsigned)rand_r(&seed) % (ALL + 1)) - 1;
        int *one = masks.all[1] + (unsigned)rand_r(&seed) % ALL;
        if (round % 4 == 0 && *one != POISON)
            *one = (*one + 1) % ALL;
        widened += is_widened(&masks, put_together);
    }
    cr_expect(widened > 100 && widened < 200, "%u", widened);
}
