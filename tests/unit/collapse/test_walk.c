/* SPDX-License-Identifier: Apache-2.0
 *
 * Where rows of neighbouring blocks may run as one, and where they must not, or gain nothing by it.
 */
#include "translator/collapse/tuning/walk.h"

#include <criterion/criterion.h>
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_text.h"

/* %at, which is %in[%row * %pitch + %column] for %row and %column of the grid. */
#define PLACE(column)                                                                              \
    "%record = load ptr, ptr %ctx, !invariant.load !0\n"                                           \
    "%launch = load ptr, ptr %record, !invariant.load !0\n"                                        \
    "%params = load ptr, ptr %launch, !invariant.load !0\n"                                        \
    "%in = load ptr, ptr %params, !invariant.load !0\n"                                            \
    "%behind = getelementptr i8, ptr %params, i64 8\n"                                             \
    "%pitch = load i32, ptr %behind, !invariant.load !0\n"                                         \
    "%tx = call i32 @rt_sreg_tid_x(ptr %ctx)\n%ty = call i32 @rt_sreg_tid_y(ptr %ctx)\n"           \
    "%bx = call i32 @rt_sreg_ctaid_x(ptr %ctx)\n%by = call i32 @rt_sreg_ctaid_y(ptr %ctx)\n"       \
    "%nx = call i32 @rt_sreg_ntid_x(ptr %ctx)\n" column "%first_row = mul i32 %by, 8\n"            \
    "%row = add i32 %first_row, %ty\n%start = mul i32 %row, %pitch\n"                              \
    "%index = add i32 %start, %column\n%long = sext i32 %index to i64\n"                           \
    "%at = getelementptr float, ptr %in, i64 %long\n"

#define COLUMN "%first = mul i32 %bx, %nx\n%column = add i32 %first, %tx\n"

/* Stores %column, as a float. */
#define STORE                                                                                      \
    "%value = uitofp i32 %column to float\nstore float %value, ptr %at, align 4\nret void\n"

#define END                                                                                        \
    "}\n"                                                                                          \
    "declare i32 @rt_sreg_tid_y(ptr)\n"                                                            \
    "declare i32 @rt_sreg_ctaid_y(ptr)\n"                                                          \
    "declare i32 @rt_sreg_clusterid_x(ptr)\n"                                                      \
    "declare i32 @rt_sreg_laneid(ptr)\n"                                                           \
    "declare void @rt_fault(ptr, i32, i64)\n"                                                      \
    "!0 = !{}\n"

#define SHARED                                                                                     \
    "%s = getelementptr i8, ptr %record, i64 8\n%shared = load ptr, ptr %s\n"                      \
    "store float 0.0, ptr %shared, align 4\n"

struct walk_case {
    const char *name;
    const char *body;
    struct tr_facts facts;
    uint32_t threads; /* 0: each block on its own … */
    const char *why;  /* … because */
};

#define OTHERS  "threads do what others may see, or have memory of their own"
#define COLUMNS "a thread's column is not all that it knows of its place"
#define APART   "neighbouring threads access memory far apart"
#define SAME    "rows access the same memory, or memory side by side"

static const struct walk_case cases[] = {
    {"rows of a matrix", PLACE(COLUMN) STORE, {.block = {0}}, 8192, NULL},
    {"a known block",
     PLACE("%first = shl i32 %bx, 5\n%column = or disjoint i32 %first, %tx\n") STORE,
     {.block = {32, 8, 1}},
     8192,
     NULL},
    {"the number of the cluster",
     PLACE(
         COLUMN) "%cluster = call i32 @rt_sreg_clusterid_x(ptr %ctx)\n"
                 "%c = uitofp i32 %cluster to float\nstore float %c, ptr %at, align 4\nret void\n",
     {.block = {0}},
     0,
     OTHERS},
    {"columns of 64 bits",
     PLACE("%bl = zext i32 %bx to i64\n%nl = zext i32 %nx to i64\n%tl = zext i32 %tx to i64\n"
           "%first = mul i64 %bl, %nl\n%c = add i64 %first, %tl\n%column = trunc i64 %c to i32\n")
         STORE,
     {.block = {0}},
     8192,
     NULL},
    {"larger elements",
     PLACE(COLUMN) "%pair = getelementptr double, ptr %in, i64 %long\n"
                   "store double 0.0, ptr %pair, align 8\n" STORE,
     {.block = {0}},
     4096,
     NULL},
    {"a load that all threads share",
     PLACE(COLUMN) "%shared = load float, ptr %in, align 4\n" STORE,
     {.block = {0}},
     8192,
     NULL},
    {"a barrier", PLACE(COLUMN) BARRIER STORE, {.block = {0}}, 0, "threads wait for each other"},
    {"blocks of one row", PLACE(COLUMN) STORE, {.block = {256, 1, 1}}, 8192, NULL},
    {"one row",
     PLACE(COLUMN) "%cl = sext i32 %column to i64\n%to = getelementptr float, ptr %in, i64 %cl\n"
                   "store float 0.0, ptr %to, align 4\nret void\n",
     {.block = {256, 1, 1}},
     0,
     SAME},
    {"one block", PLACE(COLUMN) STORE, {.grid_max = {1, 9, 9}}, 0, "no blocks are side by side"},
    {"a loop",
     "br label %loop\nloop:\n" PLACE(COLUMN) "%v = load i32, ptr %at\n%more = icmp eq i32 %v, 0\n"
                                             "br i1 %more, label %loop, label %end\nend:\n" STORE,
     {.block = {0}},
     0,
     "threads have loops"},
    {"an atomic operation",
     PLACE(COLUMN) "%o = atomicrmw fadd ptr %in, float 1.0 monotonic\n" STORE,
     {.block = {0}},
     0,
     OTHERS},
    {"a volatile access",
     PLACE(COLUMN) "%v = load volatile i32, ptr %at\n" STORE,
     {.block = {0}},
     0,
     OTHERS},
    {"a relaxed access",
     PLACE(COLUMN) "%v = load atomic i32, ptr %at monotonic, align 4\n" STORE,
     {.block = {0}},
     0,
     OTHERS},
    {"a fence", PLACE(COLUMN) "fence seq_cst\n" STORE, {.block = {0}}, 0, OTHERS},
    {"a local array",
     "%array = alloca [8 x float]\n" PLACE(COLUMN) STORE,
     {.block = {0}},
     0,
     OTHERS},
    {"shared memory", PLACE(COLUMN) SHARED STORE, {.block = {0}}, 0, OTHERS},
    {"the clock",
     PLACE(COLUMN) "%t = call i32 @rt_sreg_clock(ptr %ctx)\n" STORE,
     {.block = {0}},
     0,
     OTHERS},
    {"lanes",
     PLACE(COLUMN) "%l = call i32 @rt_sreg_laneid(ptr %ctx)\n" STORE,
     {.block = {0}},
     0,
     OTHERS},
    {"a call", PLACE(COLUMN) "call void @use(i64 %long)\n" STORE, {.block = {0}}, 0, OTHERS},
    {"a fault",
     PLACE(COLUMN) "call void @rt_fault(ptr %ctx, i32 1, i64 0)\n" STORE,
     {.block = {0}},
     0,
     OTHERS},
    {"a thread's place in the block",
     PLACE(COLUMN) "%odd = and i32 %tx, 1\n" STORE,
     {.block = {0}},
     0,
     COLUMNS},
    {"the block's place",
     PLACE(COLUMN) "%odd = and i32 %bx, 1\n" STORE,
     {.block = {0}},
     0,
     COLUMNS},
    {"tiles that overlap",
     PLACE("%first = mul i32 %bx, 30\n%column = add i32 %first, %tx\n") STORE,
     {.block = {32, 8, 1}},
     0,
     COLUMNS},
    {"a product that is extended",
     PLACE("%p = mul i32 %bx, %nx\n%first = zext i32 %p to i64\n%tl = zext i32 %tx to i64\n"
           "%c = add i64 %first, %tl\n%column = trunc i64 %c to i32\n") STORE,
     {.block = {0}},
     0,
     COLUMNS},
    {"a transposed store",
     PLACE(COLUMN) "%t = mul i32 %column, %pitch\n%u = add i32 %t, %row\n"
                   "%ul = sext i32 %u to i64\n%to = getelementptr float, ptr %in, i64 %ul\n"
                   "store float 0.0, ptr %to, align 4\n" STORE,
     {.block = {0}},
     0,
     APART},
    {"wide structures",
     PLACE(COLUMN) "%to = getelementptr [32 x float], ptr %in, i64 %long\n"
                   "store float 0.0, ptr %to, align 4\n" STORE,
     {.block = {0}},
     0,
     APART},
    {"a gather",
     PLACE(COLUMN) "%i = load i32, ptr %at, align 4\n%il = sext i32 %i to i64\n"
                   "%to = getelementptr float, ptr %in, i64 %il\n"
                   "store float 0.0, ptr %to, align 4\n" STORE,
     {.block = {0}},
     0,
     APART},
    {"a vector that rows share",
     PLACE(COLUMN) "%cl = sext i32 %column to i64\n%to = getelementptr float, ptr %in, i64 %cl\n"
                   "%a = load float, ptr %to, align 4\n%to2 = getelementptr i8, ptr %to, i64 64\n"
                   "%b = load float, ptr %to2, align 4\n" STORE,
     {.block = {0}},
     0,
     SAME},
    {"rows behind each other",
     PLACE(COLUMN) "%o = mul i32 %ty, 32\n%c = add i32 %o, %column\n%cl = sext i32 %c to i64\n"
                   "%to = getelementptr float, ptr %in, i64 %cl\n"
                   "store float 0.0, ptr %to, align 4\nret void\n",
     {.block = {32, 8, 1}},
     0,
     SAME},
    {"long rows",
     PLACE(COLUMN) "%to = getelementptr [8 x float], ptr %in, i64 %long\n"
                   "store float 0.0, ptr %to, align 4\n" STORE,
     {.block = {1024, 1, 0}},
     0,
     "rows of a block are long"},
};

Test(walk, goes_along_rows_where_that_is_right_and_gains)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *body = NULL;
        cr_assert_gt(asprintf(&body, "%s%s", cases[i].body, END), 0);
        struct kernel_text text = kernel_text_parse(body);
        kernel_text_plan(&text, TR_SCOPE_BLOCK);
        struct tr_collapse_options options = {.facts = &cases[i].facts};
        struct tr_collapsing collapsing = {
            .module = text.module, .function = text.function, .options = &options};
        struct pxr_error err = {0};
        collapsing.kernel = text.kernel;
        cr_assert_eq(tr_choose_walk(&collapsing, &err), PXR_OK, "%s", err.message);
        const struct tr_walk *walk = &collapsing.fuse.walk;
        cr_expect_eq(walk->threads, cases[i].threads, "%s: %u, %s", cases[i].name, walk->threads,
                     walk->why_not == NULL ? "" : walk->why_not);
        cr_expect_eq(walk->why_not == NULL, cases[i].why == NULL, "%s", cases[i].name);
        if (walk->why_not != NULL && cases[i].why != NULL)
            cr_expect_str_eq(walk->why_not, cases[i].why, "%s", cases[i].name);
        text.kernel = collapsing.kernel;
        kernel_text_end(&text);
        free(body);
    }
}

Test(walk, warps_stay_warps)
{
    struct kernel_text text = kernel_text_parse(PLACE(COLUMN) STORE END);
    kernel_text_plan(&text, TR_SCOPE_WARP);
    struct tr_facts facts = {.block = {0}};
    struct tr_collapse_options options = {.facts = &facts};
    struct tr_collapsing collapsing = {
        .module = text.module, .function = text.function, .options = &options};
    struct pxr_error err = {0};
    collapsing.kernel = text.kernel;
    cr_assert_eq(tr_choose_walk(&collapsing, &err), PXR_OK, "%s", err.message);
    cr_expect_eq(collapsing.fuse.walk.threads, 0);
    text.kernel = collapsing.kernel;
    kernel_text_end(&text);
}
