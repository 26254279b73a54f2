/* SPDX-License-Identifier: Apache-2.0
 *
 * How many copies of a product of tiles run side by side, whose inner loop somebody has unrolled:
 * as --explain says it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>

#include "parse_ir.h"
#include "translator/module/marks.h"
#include "translator/vector/vector.h"

static const char before[] =
    "define void @kernel(ptr noalias %a, ptr noalias %b, ptr noalias %c) {\n"
    "entry:\n  br label %row\n"
    "row:\n  %y = phi i32 [ 0, %entry ], [ %y.next, %y.latch ]\n  br label %iteration\n"
    "iteration:\n  %x = phi i32 [ 0, %row ], [ %x.next, %x.latch ]\n"
    "  %x64 = zext nneg i32 %x to i64\n  %y64 = zext nneg i32 %y to i64\n"
    "  %first = shl nuw nsw i64 %y64, 4\n  %own = add nuw nsw i64 %first, %x64\n";

static const char after[] = "  br label %x.latch\n"
                            "x.latch:\n  %x.next = add nuw nsw i32 %x, 1\n"
                            "  %x.more = icmp ult i32 %x.next, 16\n"
                            "  br i1 %x.more, label %iteration, label %y.latch\n"
                            "y.latch:\n  %y.next = add nuw nsw i32 %y, 1\n"
                            "  %y.more = icmp ult i32 %y.next, 16\n"
                            "  br i1 %y.more, label %row, label %done\n"
                            "done:\n  ret void\n}\n";

/* c[y][x] = 0 + a[y][0] * b[0][x] + … of 16 elements in a row. */
static void print_products(FILE *out, const char *type, int count)
{
    fprintf(out, "  %%s0 = fadd %s 0.0, 0.0\n", type);
    for (int k = 0; k < count; k++) {
        fprintf(out, "  %%ia%d = add nuw nsw i64 %%first, %d\n", k, k);
        fprintf(out, "  %%pa%d = getelementptr %s, ptr %%a, i64 %%ia%d\n", k, type, k);
        fprintf(out, "  %%va%d = load %s, ptr %%pa%d\n", k, type, k);
        fprintf(out, "  %%ib%d = add nuw nsw i64 %%x64, %d\n", k, 16 * k);
        fprintf(out, "  %%pb%d = getelementptr %s, ptr %%b, i64 %%ib%d\n", k, type, k);
        fprintf(out, "  %%vb%d = load %s, ptr %%pb%d\n", k, type, k);
        fprintf(out, "  %%m%d = fmul %s %%va%d, %%vb%d\n", k, type, k, k);
        fprintf(out, "  %%s%d = fadd %s %%s%d, %%m%d\n", k + 1, type, k, k);
    }
    fprintf(out, "  %%pc = getelementptr %s, ptr %%c, i64 %%own\n", type);
    fprintf(out, "  store %s %%s%d, ptr %%pc\n", type, count);
}

static LLVMModuleRef parse(LLVMContextRef context, const char *type, int count)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    cr_assert_not_null(out);
    fputs(before, out);
    print_products(out, type, count);
    fputs(after, out);
    fclose(out);
    LLVMModuleRef module = parse_ir(context, text);
    free(text);
    return module;
}

static void expect_copies(const char *type, int count, const char *copies)
{
    struct tr_target target = tr_target_find("", 512);
    struct tr_vector_options options = {.target = &target, .is_forced = true};
    struct tr_vector_report report;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse(context, type, count);
    LLVMValueRef function = LLVMGetNamedFunction(module, "kernel");
    LLVMBasicBlockRef latch = LLVMGetPreviousBasicBlock(LLVMGetLastBasicBlock(function));
    tr_mark_threads(latch, 'y');
    tr_mark_threads(LLVMGetPreviousBasicBlock(latch), 'x');
    cr_assert_eq(tr_vectorise(function, &options, &report, NULL), PXR_OK);
    cr_expect_not_null(strstr(report.explanation, copies), "%s of %s:\n%s", copies, type,
                       report.explanation);
    free(report.explanation);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

Test(jam, an_unrolled_product_has_eight_registers_of_sums)
{
    expect_copies("float", 16, "8 side by side: they share what they load");
    expect_copies("double", 16, "threads, 4 rows side by side");
}

Test(jam, a_few_shared_loads_are_no_unrolled_loop)
{
    expect_copies("float", 4, "threads, 4 rows side by side");
}
