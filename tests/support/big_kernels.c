/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/big_kernels.h"

#include <stdlib.h>
#include <string.h>

/* ---- what all have ---- */

/* Offsets: from %rd1, of words that only this thread uses; from %rd0, of words that all may use. */
#define PRIVATE(i) (4096 + (i) % 97 * 4096)
#define COMMON     (98 * 4096)

static void write_head(FILE *out)
{
    fputs(".version 8.0\n.target sm_80\n.address_size 64\n", out);
}

/* %rd1: the thread's own word. %r1: %tid.x. %r2: what the thread computes, from its word. %r3 holds
 * a random word. */
static void begin_kernel(FILE *out)
{
    fputs(".visible .entry big(.param .u64 p)\n{\n"
          ".reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<32>;\n.reg .f32 %f<8>;\n"
          ".reg .b64 %rd<16>;\n"
          "ld.param.u64 %rd0, [p];\ncvta.to.global.u64 %rd0, %rd0;\n"
          "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd1, %rd0, %rd1;\n"
          "ld.global.u32 %r2, [%rd1];\nmov.u32 %r3, 12345;\n",
          out);
}

static void end_kernel(FILE *out)
{
    fputs("st.global.u32 [%rd1], %r2;\nret;\n}\n", out);
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* ---- straight code ---- */

static void write_arithmetic(FILE *out, uint32_t count)
{
    static const char *const forms[] = {"mad.lo.u32 %%r2, %%r2, %u, %%r3;\n",
                                        "xor.b32 %%r3, %%r3, %%r2;\nadd.u32 %%r3, %%r3, %u;\n",
                                        "shl.b32 %%r4, %%r2, 3;\nadd.u32 %%r2, %%r4, %u;\n",
                                        "sub.u32 %%r3, %%r3, %u;\n"};
    write_head(out);
    begin_kernel(out);
    for (uint32_t i = 0; i < count; i += 1 + (i % 4 == 1 || i % 4 == 2))
        fprintf(out, forms[i % 4], i * 2654435761u);
    end_kernel(out);
}

static void write_floats(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    fputs("cvt.rn.f32.u32 %f1, %r2;\nmov.f32 %f2, 0f3F800000;\n", out);
    for (uint32_t i = 0; i + 1 < count; i += 2)
        fputs("fma.rn.f32 %f2, %f1, %f2, 0f3F800001;\nmul.rn.f32 %f1, %f1, %f2;\n", out);
    fputs("mov.b32 %r2, %f2;\n", out);
    end_kernel(out);
}

static void write_halves(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    fputs("cvt.u16.u32 %h1, %r2;\nmov.b16 %h2, 0x3c00;\n", out);
    for (uint32_t i = 0; i + 1 < count; i += 2)
        fputs("fma.rn.f16 %h2, %h1, %h2, %h2;\nadd.rn.f16 %h1, %h1, %h2;\n", out);
    fputs("cvt.u32.u16 %r2, %h2;\n", out);
    end_kernel(out);
}

/* As nvcc writes them in hashes: selectors are in registers. */
static void write_permutations(FILE *out, uint32_t count)
{
    static const uint32_t selectors[] = {0x2103, 0x4440, 0x7632, 0x0123, 0x5410, 0xba98};
    write_head(out);
    begin_kernel(out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out,
                "mov.u32 %%r5, %u;\nprmt.b32 %%r3, %%r2, %%r1, %%r5;\n"
                "mad.lo.u32 %%r2, %%r2, %u, %%r3;\n",
                selectors[i % (i % 100 == 0 ? 6 : 5)], 2 * i + 3);
    end_kernel(out);
}

static void write_wide(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    fputs("cvt.u64.u32 %rd2, %r2;\nmov.u64 %rd3, 7;\n", out);
    for (uint32_t i = 0; i + 2 < count; i += 3)
        fprintf(out,
                "mad.lo.u64 %%rd2, %%rd2, %%rd3, %u;\nmul.hi.u64 %%rd4, %%rd2, %%rd3;\n"
                "xor.b64 %%rd3, %%rd3, %%rd4;\n",
                i);
    fputs("cvt.u32.u64 %r2, %rd3;\n", out);
    end_kernel(out);
}

/* Nothing can be left out: each product takes from all before. */
static void write_products(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    fputs("cvt.u64.u32 %rd2, %r2;\nmov.u64 %rd3, 0x9e3779b97f4a7c15;\n", out);
    for (uint32_t i = 0; i + 1 < count; i += 2)
        fprintf(out, "mul.hi.%c64 %%rd4, %%rd2, %%rd3;\nadd.u64 %%rd%u, %%rd4, %%rd2;\n",
                i % 4 ? 's' : 'u', 2 + i / 2 % 2);
    fputs("cvt.u32.u64 %r2, %rd3;\n", out);
    end_kernel(out);
}

/* At addresses that depend on data, so that each lane of a vector has a store of its own. */
static void write_narrow_stores(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    fputs("cvt.u16.u32 %h1, %r2;\nand.b32 %r4, %r2, 2;\ncvt.u64.u32 %rd2, %r4;\n"
          "add.u64 %rd2, %rd1, %rd2;\nsetp.ne.u32 %p1, %r2, 7;\n",
          out);
    for (uint32_t i = 0; i + 1 < count; i += 2)
        fprintf(out, "mul.lo.u16 %%h1, %%h1, %u;\n%sst.global.u16 [%%rd2+%u], %%h1;\n",
                i % 9999 | 1, i % 4 ? "@%p1 " : "", PRIVATE(i));
    end_kernel(out);
}

static void write_memory(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    for (uint32_t i = 0; i + 2 < count; i += 3)
        fprintf(out,
                "ld.global.u32 %%r4, [%%rd1+%u];\nadd.u32 %%r2, %%r2, %%r4;\n"
                "st.global.u32 [%%rd1+%u], %%r2;\n",
                PRIVATE(i), PRIVATE(i + 8));
    end_kernel(out);
}

/* %rd2: the thread's row of 64 bytes in the first of six arrays of rows. Two words of a row at a
 * time, which are a few lanes of a vector. */
#define ROW(i) ((i) % 6 * 65536 + (i) / 6 % 4 * 16)

static void begin_rows(FILE *out)
{
    write_head(out);
    begin_kernel(out);
    fputs("mul.wide.u32 %rd2, %r1, 64;\nadd.s64 %rd2, %rd0, %rd2;\nadd.s64 %rd2, %rd2, 4096;\n"
          "cvt.u64.u32 %rd3, %r2;\ncvt.u16.u32 %h1, %r2;\n",
          out);
}

static void write_row_stores(FILE *out, uint32_t count)
{
    static const char *const values[] = {"u64", "7",   "u64", "%rd3", "u32", "%r2",
                                         "u16", "%h1", "u8",  "%r2",  "u32", "9"};
    begin_rows(out);
    for (uint32_t i = 0; i < count; i++) {
        const char *const *value = &values[i / 24 % 6 * 2];
        fprintf(out, "st.global.v2.%s [%%rd2+%u], {%s, %s};\n", value[0], ROW(i), value[1],
                value[1]);
    }
    end_kernel(out);
}

static void write_row_loads(FILE *out, uint32_t count)
{
    static const char *const types[] = {"u32", "s32", "u16", "s8"};
    begin_rows(out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out,
                "ld.global.v2.%s {%%r4, %%r5}, [%%rd2+%u];\nadd.u32 %%r2, %%r2, %%r4;\n"
                "add.u32 %%r2, %%r2, %%r5;\n",
                types[i / 24 % 4], ROW(i));
    end_kernel(out);
}

static void write_shared(FILE *out, uint32_t count)
{
    write_head(out);
    fputs(".shared .align 4 .b8 tile[32768];\n", out);
    begin_kernel(out);
    fputs("mov.u32 %r5, tile;\nand.b32 %r6, %r1, 1023;\nmad.lo.u32 %r5, %r6, 4, %r5;\n", out);
    for (uint32_t i = 0; i + 2 < count; i += 3)
        fprintf(out,
                "st.shared.u32 [%%r5+%u], %%r2;\nld.shared.u32 %%r4, [%%r5+%u];\n"
                "add.u32 %%r2, %%r2, %%r4;\n",
                i % 8 * 4096, i % 7 * 4096);
    end_kernel(out);
}

static void write_divisions(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    for (uint32_t i = 0; i + 1 < count; i += 2)
        fprintf(out, "div.u32 %%r4, %%r2, %u;\nrem.s32 %%r2, %%r3, %%r4;\n", i % 1000 + 2);
    end_kernel(out);
}

static void write_functions_of_math(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    fputs("cvt.rn.f32.u32 %f1, %r2;\n", out);
    for (uint32_t i = 0; i + 3 < count; i += 4)
        fputs("div.rn.f32 %f1, %f1, 0f40490FDB;\nsqrt.rn.f32 %f2, %f1;\nsin.approx.f32 %f3, %f2;\n"
              "ex2.approx.f32 %f1, %f3;\n",
              out);
    fputs("mov.b32 %r2, %f1;\n", out);
    end_kernel(out);
}

static void write_guarded(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    for (uint32_t i = 0; i + 1 < count; i += 2)
        fprintf(out, "setp.gt.u32 %%p1, %%r2, %u;\n@%%p1 mad.lo.u32 %%r2, %%r2, 3, %u;\n",
                i * 7919 % 1000, i);
    end_kernel(out);
}

static void write_guarded_stores(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    for (uint32_t i = 0; i + 1 < count; i += 2)
        fprintf(out, "setp.gt.u32 %%p1, %%r2, %u;\n@%%p1 st.global.u32 [%%rd1+%u], %%r2;\n",
                i * 7919 % 1000, PRIVATE(i));
    end_kernel(out);
}

static void write_one_guard(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    fputs("setp.gt.u32 %p1, %r2, 5;\n", out);
    for (uint32_t i = 0; i + 1 < count; i += 2)
        fprintf(out, "@%%p1 st.global.u32 [%%rd1+%u], %%r2;\nadd.u32 %%r2, %%r2, %u;\n", PRIVATE(i),
                i);
    end_kernel(out);
}

static void write_registers(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    fprintf(out, ".reg .b32 %%v<%u>;\n", count);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "ld.global.u32 %%v%u, [%%rd1+%u];\n", i, PRIVATE(i));
    fputs("bar.sync 0;\n", out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "mad.lo.u32 %%r2, %%r2, 5, %%v%u;\n", i);
    end_kernel(out);
}

/* ---- what threads do together ---- */

static void write_barriers(FILE *out, uint32_t count)
{
    write_head(out);
    fputs(".shared .align 4 .b8 tile[8192];\n", out);
    begin_kernel(out);
    fputs("mov.u32 %r5, tile;\nand.b32 %r6, %r1, 1023;\nmad.lo.u32 %r7, %r6, 4, %r5;\n"
          "xor.b32 %r6, %r6, 1;\nmad.lo.u32 %r8, %r6, 4, %r5;\n",
          out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out,
                "st.shared.u32 [%%r7], %%r2;\nbar.sync 0;\nld.shared.u32 %%r4, [%%r8];\n"
                "mad.lo.u32 %%r2, %%r4, %u, %%r2;\nbar.sync 0;\n",
                i | 1);
    end_kernel(out);
}

static void write_conditional_barriers(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    fprintf(out, "ld.global.u32 %%r5, [%%rd0+%u];\n", COMMON);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out,
                "and.b32 %%r4, %%r5, %u;\nsetp.eq.u32 %%p1, %%r4, 0;\n@%%p1 bra SKIP%u;\n"
                "mad.lo.u32 %%r2, %%r2, 3, %u;\nbar.sync 0;\nSKIP%u:\n",
                1u << i % 32, i, i, i);
    end_kernel(out);
}

static void write_shuffles(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    for (uint32_t i = 0; i + 1 < count; i += 2)
        fprintf(out,
                "shfl.sync.bfly.b32 %%r4, %%r2, %u, 0x1f, 0xffffffff;\n"
                "mad.lo.u32 %%r2, %%r2, 3, %%r4;\n",
                1u << i / 2 % 5);
    end_kernel(out);
}

static void write_votes(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    for (uint32_t i = 0; i + 2 < count; i += 3)
        fprintf(out,
                "setp.gt.u32 %%p1, %%r2, %u;\nvote.sync.ballot.b32 %%r4, %%p1, 0xffffffff;\n"
                "add.u32 %%r2, %%r2, %%r4;\n",
                i * 7919);
    end_kernel(out);
}

static void write_conditional_votes(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out,
                "setp.gt.u32 %%p1, %%r2, %u;\n@%%p1 bra SKIP%u;\n"
                "activemask.b32 %%r4;\nvote.sync.ballot.b32 %%r5, %%p1, %%r4;\n"
                "xor.b32 %%r2, %%r2, %%r5;\nSKIP%u:\n",
                i * 79190, i, i);
    end_kernel(out);
}

static void write_atomics(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "red.global.add.u32 [%%rd0+%u], %%r2;\n", COMMON + i % 97 * 4);
    end_kernel(out);
}

/* ---- control flow ---- */

static void write_ifs(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out,
                "setp.gt.u32 %%p1, %%r2, %u;\n@%%p1 bra SKIP%u;\nst.global.u32 [%%rd1+%u], %%r2;\n"
                "mad.lo.u32 %%r2, %%r2, 3, %u;\nSKIP%u:\n",
                i * 7919 % 1000, i, PRIVATE(i), i, i);
    end_kernel(out);
}

static void write_nested_ifs(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out,
                "setp.gt.u32 %%p1, %%r2, %u;\n@%%p1 bra SKIP%u;\nmad.lo.u32 %%r2, %%r2, 3, %u;\n"
                "st.global.u32 [%%rd1+%u], %%r2;\n",
                0x80000000u + i * 7919, i, i, PRIVATE(i));
    for (uint32_t i = count; i-- > 0;)
        fprintf(out, "add.u32 %%r2, %%r2, %u;\nSKIP%u:\n", i, i);
    end_kernel(out);
}

static void write_loops(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out,
                "and.b32 %%r4, %%r2, 7;\nLOOP%u:\nmad.lo.u32 %%r2, %%r2, 3, %u;\n"
                "sub.s32 %%r4, %%r4, 1;\nsetp.gt.s32 %%p1, %%r4, 0;\n@%%p1 bra LOOP%u;\n",
                i, i, i);
    end_kernel(out);
}

/* As write_loops, but with memory in the loops. */
static void write_sums(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out,
                "and.b32 %%r4, %%r2, 7;\nmov.u64 %%rd2, %%rd1;\nLOOP%u:\nld.global.u32 %%r5, "
                "[%%rd2+%u];\n"
                "add.u32 %%r2, %%r2, %%r5;\nadd.s64 %%rd2, %%rd2, 4;\nsub.s32 %%r4, %%r4, 1;\n"
                "setp.gt.s32 %%p1, %%r4, 0;\n@%%p1 bra LOOP%u;\n",
                i, PRIVATE(i), i);
    end_kernel(out);
}

static void write_nested_loops(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    fprintf(out, ".reg .b32 %%n<%u>;\n", count);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "and.b32 %%n%u, %%r2, 1;\nLOOP%u:\nmad.lo.u32 %%r2, %%r2, 3, %u;\n", i, i, i);
    for (uint32_t i = count; i-- > 0;)
        fprintf(out, "sub.s32 %%n%u, %%n%u, 1;\nsetp.gt.s32 %%p1, %%n%u, 0;\n@%%p1 bra LOOP%u;\n",
                i, i, i, i);
    end_kernel(out);
}

static void write_branches(FILE *out, uint32_t count)
{
    uint32_t state = count;
    write_head(out);
    begin_kernel(out);
    fputs("mov.u32 %r9, 1000;\n", out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out,
                "L%u:\nsub.u32 %%r9, %%r9, 1;\nsetp.eq.u32 %%p2, %%r9, 0;\n@%%p2 bra DONE;\n"
                "mad.lo.u32 %%r2, %%r2, 13, %u;\nand.b32 %%r4, %%r2, 4096;\n"
                "setp.eq.u32 %%p1, %%r4, 0;\n@%%p1 bra L%u;\n",
                i, i, next_random(&state) % count);
    fputs("DONE:\n", out);
    end_kernel(out);
}

static void write_targets(FILE *out, uint32_t count, const char *name)
{
    fputs("TARGETS: .branchtargets ", out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "%s%s%u", i > 0 ? ", " : "", name, i);
    fputs(";\n", out);
}

static void write_indirect(FILE *out, uint32_t count, int is_in_loop)
{
    write_head(out);
    begin_kernel(out);
    fputs("mov.u32 %r9, 10;\nTOP:\n", out);
    write_targets(out, count, "L");
    fprintf(out, "rem.u32 %%r4, %%r2, %u;\nbrx.idx %%r4, TARGETS;\n", count);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out,
                "L%u:\nmad.lo.u32 %%r2, %%r2, %u, %%r3;\nst.global.u32 [%%rd1+%u], %%r2;\nbra.uni "
                "JOIN;\n",
                i, i * 8 + 5, PRIVATE(i));
    fputs("JOIN:\n", out);
    if (is_in_loop)
        fputs("sub.s32 %r9, %r9, 1;\nsetp.gt.s32 %p1, %r9, 0;\n@%p1 bra TOP;\n", out);
    end_kernel(out);
}

static void write_brx(FILE *out, uint32_t count)
{
    write_indirect(out, count, 0);
}

/* Each target goes straight on to the next brx, as a compiler makes of an interpreter. */
static void write_brx_loop(FILE *out, uint32_t count)
{
    write_indirect(out, count, 1);
}

static void write_brx_threaded(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    fputs("mov.u32 %r9, 10;\n", out);
    write_targets(out, count, "L");
    for (uint32_t i = 0; i < count; i++)
        fprintf(out,
                "L%u:\nmad.lo.u32 %%r2, %%r2, %u, %%r3;\nsub.s32 %%r9, %%r9, 1;\n"
                "setp.lt.s32 %%p1, %%r9, 0;\n@%%p1 bra DONE;\nrem.u32 %%r4, %%r2, %u;\n"
                "brx.idx %%r4, TARGETS;\n",
                i, i * 8 + 5, count);
    fputs("DONE:\n", out);
    end_kernel(out);
}

static void write_switch(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    fprintf(out, "mov.u32 %%r9, 10;\nTOP:\nrem.u32 %%r4, %%r2, %u;\n", count + 1);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "setp.eq.s32 %%p1, %%r4, %u;\n@%%p1 bra L%u;\n", i, i);
    fputs("bra.uni JOIN;\n", out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out,
                "L%u:\nmad.lo.u32 %%r2, %%r2, %u, %%r3;\nst.global.u32 [%%rd1+%u], %%r2;\nbra.uni "
                "JOIN;\n",
                i, i * 8 + 5, PRIVATE(i));
    fputs("JOIN:\nsub.s32 %r9, %r9, 1;\nsetp.gt.s32 %p1, %r9, 0;\n@%p1 bra TOP;\n", out);
    end_kernel(out);
}

/* One loop whose body is long, as that of a hash. */
static void write_rounds(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    fputs("mov.u32 %r9, 10;\nTOP:\n", out);
    for (uint32_t i = 0; i + 2 < count; i += 3)
        fprintf(out,
                "shf.l.wrap.b32 %%r4, %%r2, %%r2, %u;\nadd.u32 %%r2, %%r4, %%r3;\n"
                "xor.b32 %%r3, %%r3, %%r4;\n",
                i % 31 + 1);
    fputs("sub.s32 %r9, %r9, 1;\nsetp.gt.s32 %p1, %r9, 0;\n@%p1 bra TOP;\n", out);
    end_kernel(out);
}

/* As matrix products have them: 8 by 8 sums are a thread's own, and for each step it loads eight
 * numbers of a row and eight of a column, which 64 threads have stored. */
#define TILE_STEPS 32

static void write_tile_step(FILE *out, uint32_t step)
{
    for (uint32_t i = 0; i < 16; i += 4)
        fprintf(out, "ld.shared.v4.f32 {%%x%u, %%x%u, %%x%u, %%x%u}, [%%r%u+%u];\n", i, i + 1,
                i + 2, i + 3, i < 8 ? 5u : 6u, step * 256 + i % 8 * 4);
    for (uint32_t i = 0; i < 64; i++)
        fprintf(out, "fma.rn.f32 %%s%u, %%x%u, %%x%u, %%s%u;\n", i, i / 8, 8 + i % 8, i);
}

static void begin_tile(FILE *out)
{
    write_head(out);
    fputs(".shared .align 16 .b8 tile[20480];\n", out);
    begin_kernel(out);
    fputs(".reg .f32 %x<16>, %s<64>;\nmov.u32 %r4, tile;\n"
          "shl.b32 %r5, %r1, 5;\nand.b32 %r5, %r5, 224;\nadd.u32 %r5, %r4, %r5;\n"
          "shl.b32 %r6, %r1, 2;\nand.b32 %r6, %r6, 224;\nadd.u32 %r6, %r4, %r6;\n"
          "add.u32 %r6, %r6, 8192;\nmad.lo.u32 %r4, %r1, 4, %r4;\n"
          "and.b32 %r8, %r2, 255;\ncvt.rn.f32.u32 %f1, %r8;\n",
          out);
    for (uint32_t i = 0; i < 64; i++)
        fprintf(out, "mov.f32 %%s%u, 0f00000000;\n", i);
}

static void write_tile(FILE *out, uint32_t count)
{
    begin_tile(out);
    fputs("mov.u32 %r9, 3;\nTOP:\nbar.sync 0;\n", out);
    for (uint32_t i = 0; i < 2 * TILE_STEPS; i++)
        fprintf(out, "st.shared.f32 [%%r4+%u], %%f1;\n", i * 256);
    fputs("bar.sync 0;\n", out);
    for (uint32_t i = 0; i < count; i++)
        write_tile_step(out, i % TILE_STEPS);
    fputs("sub.s32 %r9, %r9, 1;\nsetp.gt.s32 %p1, %r9, 0;\n@%p1 bra TOP;\n", out);
    for (uint32_t i = 0; i < 64; i++)
        fprintf(out, "add.f32 %%f1, %%f1, %%s%u;\n", i);
    fputs("mov.b32 %r2, %f1;\n", out);
    end_kernel(out);
}

/* ---- functions and variables ---- */

static void write_function(FILE *out, uint32_t i, const uint32_t *callees, uint32_t callee_count)
{
    fprintf(out,
            ".func (.param .b32 r) f%u(.param .b32 a)\n{\n.reg .b32 %%r<4>;\n"
            "ld.param.u32 %%r1, [a];\nmad.lo.u32 %%r1, %%r1, 3, %u;\nxor.b32 %%r1, %%r1, %u;\n",
            i, i, i * 7919);
    for (uint32_t c = 0; c < callee_count; c++)
        fprintf(out,
                "{\n.param .b32 a0;\n.param .b32 r0;\nst.param.b32 [a0], %%r1;\n"
                "call.uni (r0), f%u, (a0);\nld.param.b32 %%r1, [r0];\n}\n",
                callees[c]);
    fputs("st.param.b32 [r], %r1;\nret;\n}\n", out);
}

static void write_call(FILE *out, uint32_t i)
{
    fprintf(out,
            "{\n.param .b32 a0;\n.param .b32 r0;\nst.param.b32 [a0], %%r2;\n"
            "call.uni (r0), f%u, (a0);\nld.param.b32 %%r2, [r0];\n}\n",
            i);
}

static void write_uncalled(FILE *out, uint32_t count)
{
    write_head(out);
    for (uint32_t i = 0; i < count; i++)
        write_function(out, i, NULL, 0);
    begin_kernel(out);
    write_call(out, 0);
    end_kernel(out);
}

static void write_called(FILE *out, uint32_t count)
{
    write_head(out);
    for (uint32_t i = 0; i < count; i++)
        write_function(out, i, NULL, 0);
    begin_kernel(out);
    for (uint32_t i = 0; i < count; i++)
        write_call(out, i);
    end_kernel(out);
}

static void write_chain(FILE *out, uint32_t count)
{
    write_head(out);
    for (uint32_t i = 0; i < count; i++)
        write_function(out, i, &(uint32_t){i - 1}, i > 0);
    begin_kernel(out);
    write_call(out, count - 1);
    end_kernel(out);
}

static void write_tree(FILE *out, uint32_t count)
{
    write_head(out);
    for (uint32_t i = count; i-- > 0;) {
        uint32_t callees[2] = {2 * i + 1, 2 * i + 2};
        write_function(out, i, callees, 2 * i + 2 < count ? 2 : 0);
    }
    begin_kernel(out);
    write_call(out, 0);
    end_kernel(out);
}

static void write_diamonds(FILE *out, uint32_t count)
{
    write_head(out);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t callees[2] = {i - 1, i - 1};
        write_function(out, i, callees, i > 0 ? 2 : 0);
    }
    begin_kernel(out);
    write_call(out, count - 1);
    end_kernel(out);
}

static void write_calls(FILE *out, uint32_t count)
{
    write_head(out);
    write_function(out, 0, NULL, 0);
    begin_kernel(out);
    for (uint32_t i = 0; i < count; i++)
        write_call(out, 0);
    end_kernel(out);
}

static void write_entries(FILE *out, uint32_t count)
{
    write_head(out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, ".visible .entry other%u(.param .u64 p)\n{\nret;\n}\n", i);
    begin_kernel(out);
    end_kernel(out);
}

static void write_variables(FILE *out, uint32_t count)
{
    write_head(out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, ".global .align 4 .u32 g%u = %u;\n", i, i);
    begin_kernel(out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "ld.global.u32 %%r4, [g%u];\nadd.u32 %%r2, %%r2, %%r4;\n", i);
    end_kernel(out);
}

static void write_shared_variables(FILE *out, uint32_t count)
{
    write_head(out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, ".shared .align 1 .b8 s%u[1];\n", i);
    begin_kernel(out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "st.shared.u8 [s%u], 1;\n", i);
    end_kernel(out);
}

static void write_local(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    fprintf(out, ".local .align 4 .b8 array[%u];\n", count * 4);
    fputs("mov.u64 %rd2, array;\n", out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "st.local.u32 [%%rd2+%u], %%r2;\nadd.u32 %%r2, %%r2, %u;\n", i * 4, i);
    fprintf(out,
            "rem.u32 %%r4, %%r2, %u;\nmul.wide.u32 %%rd3, %%r4, 4;\nadd.s64 %%rd3, %%rd2, %%rd3;\n"
            "ld.local.u32 %%r4, [%%rd3];\nadd.u32 %%r2, %%r2, %%r4;\n",
            count);
    end_kernel(out);
}

static void write_local_variables(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(
            out,
            ".local .align 4 .b8 array%u[8];\nmov.u64 %%rd2, array%u;\nand.b32 %%r4, %%r2, 4;\n"
            "cvt.u64.u32 %%rd3, %%r4;\nadd.s64 %%rd3, %%rd2, %%rd3;\nst.local.u32 [%%rd2], %%r2;\n"
            "st.local.u32 [%%rd2+4], %%r1;\nld.local.u32 %%r5, [%%rd3];\nadd.u32 %%r2, %%r2, "
            "%%r5;\n",
            i, i);
    end_kernel(out);
}

static void write_scopes(FILE *out, uint32_t count)
{
    write_head(out);
    begin_kernel(out);
    for (uint32_t i = 0; i < count; i++)
        fputs("{\n.reg .b32 %inner;\nadd.u32 %inner, %r2, 1;\n", out);
    fputs("add.u32 %r2, %r2, 1;\n", out);
    for (uint32_t i = 0; i < count; i++)
        fputs("}\n", out);
    end_kernel(out);
}

/* ---- the table ---- */

const struct big_family big_families[] = {
    {"arithmetic", "instructions", write_arithmetic, {1000, 10000, 50000, 200000}},
    {"floats", "instructions", write_floats, {1000, 10000, 50000, 200000}},
    {"halves", "instructions", write_halves, {1000, 10000, 50000, 200000}},
    {"permutations",
     "permutations of bytes by constants",
     write_permutations,
     {1000, 10000, 50000, 200000}},
    {"wide", "64-bit instructions", write_wide, {1000, 10000, 50000, 200000}},
    {"products",
     "instructions, each other the high half of a product",
     write_products,
     {1000, 3000, 10000, 50000, 200000}},
    {"narrow_stores",
     "instructions, each other a store of 16 bits",
     write_narrow_stores,
     {20, 100, 1000, 10000, 200000}},
    {"memory", "instructions, two of three accesses", write_memory, {1000, 10000, 50000, 200000}},
    {"row_stores",
     "stores into a row of each thread",
     write_row_stores,
     {8, 16, 100, 10000, 200000}},
    {"row_loads", "loads from a row of each thread", write_row_loads, {8, 16, 100, 10000, 60000}},
    {"shared",
     "instructions, two of three shared accesses",
     write_shared,
     {1000, 10000, 50000, 200000}},
    {"divisions", "integer divisions", write_divisions, {1000, 10000, 50000, 200000}},
    {"math", "division, root, sine, power", write_functions_of_math, {1000, 10000, 50000, 200000}},
    {"guarded", "instructions, each other guarded", write_guarded, {1000, 10000, 50000, 200000}},
    {"guarded_stores",
     "instructions, each other a guarded store",
     write_guarded_stores,
     {1000, 10000, 50000, 200000}},
    {"one_guard",
     "instructions, each other guarded by one predicate",
     write_one_guard,
     {1000, 10000, 50000, 200000}},
    {"registers", "registers, all live at once", write_registers, {100, 1000, 10000, 50000}},
    {"barriers", "pairs of barriers", write_barriers, {10, 100, 1000, 10000}},
    {"conditional_barriers",
     "barriers, each behind a branch",
     write_conditional_barriers,
     {10, 20, 22, 200, 5000}},
    {"shuffles", "instructions, each other a shuffle", write_shuffles, {100, 1000, 10000, 100000}},
    {"votes", "instructions, each third a vote", write_votes, {100, 1000, 10000, 100000}},
    {"conditional_votes",
     "votes, each behind a branch",
     write_conditional_votes,
     {10, 100, 1000, 10000}},
    {"atomics", "atomic additions", write_atomics, {1000, 10000, 100000}},
    {"ifs", "ifs, one after the other", write_ifs, {100, 1000, 5000, 10000, 50000}},
    {"nested_ifs", "ifs, one in the other", write_nested_ifs, {100, 1000, 5000, 10000}},
    {"loops", "loops, one after the other", write_loops, {100, 500, 1666, 2000, 10000}},
    {"sums", "loops with loads, one after the other", write_sums, {100, 500, 1666, 2000, 10000}},
    {"nested_loops", "loops, one in the other", write_nested_loops, {10, 100, 500, 2000}},
    {"branches", "branches to anywhere", write_branches, {100, 1000, 5000, 10000}},
    {"brx", "targets of brx.idx", write_brx, {80, 250, 1000, 10000}},
    {"brx_loop", "targets of brx.idx in a loop", write_brx_loop, {80, 250, 1000, 10000}},
    {"brx_threaded", "targets of as many brx.idx", write_brx_threaded, {10, 80, 250, 1000}},
    {"switch", "cases in a loop", write_switch, {64, 250, 1000, 5000}},
    {"rounds", "instructions in a loop", write_rounds, {1000, 10000, 50000}},
    {"tile", "steps of a product of 8 by 8", write_tile, {8, 16, 32, 100}},
    {"uncalled", "functions, one of them called", write_uncalled, {1000, 10000, 100000}},
    {"called", "functions, all called by the kernel", write_called, {1000, 10000, 100000}},
    {"chain", "functions, each calling one other", write_chain, {1000, 10000, 100000}},
    {"tree", "functions, each calling two others", write_tree, {1000, 10000, 100000}},
    {"diamonds",
     "functions, each calling the one before twice",
     write_diamonds,
     {10, 20, 100, 1000}},
    {"calls", "calls of one function", write_calls, {1000, 10000, 50000}},
    {"entries", "other kernels in the module", write_entries, {1000, 10000, 100000}},
    {"variables", "variables, each read", write_variables, {1000, 10000, 50000}},
    {"shared_variables",
     "shared variables, each written",
     write_shared_variables,
     {1000, 10000, 40000}},
    {"local", "words of a local array, each written", write_local, {100, 1000, 10000, 50000}},
    {"local_variables", "local arrays", write_local_variables, {100, 1000, 10000}},
    {"scopes", "scopes, one in the other", write_scopes, {10, 100, 1000}},
};
const size_t big_family_count = sizeof big_families / sizeof big_families[0];

const struct big_family *big_family_find(const char *name)
{
    for (size_t i = 0; i < big_family_count; i++)
        if (strcmp(big_families[i].name, name) == 0)
            return &big_families[i];
    return NULL;
}

char *big_kernel_text(const struct big_family *family, uint32_t count)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return NULL;
    family->write(out, count);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
