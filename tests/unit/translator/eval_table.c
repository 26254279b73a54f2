/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs tables of instructions; see eval_table.h.
 */
#include "eval_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "harness.h"

static void write_loads(FILE *text, size_t offset)
{
    for (int i = 1; i <= 3; i++, offset += 8) {
        fprintf(text, "ld.b32 %%r%d, [%%in+%zu];\nld.b64 %%rd%d, [%%in+%zu];\n", i, offset, i,
                offset);
        fprintf(text, "ld.f32 %%f%d, [%%in+%zu];\nld.f64 %%fd%d, [%%in+%zu];\n", i, offset, i,
                offset);
        fprintf(text, "ld.b16 %%h%d, [%%in+%zu];\n", i, offset);
    }
}

static void write_store(FILE *text, char result, size_t offset)
{
    switch (result) {
    case 'r':
        fprintf(text, "st.b32 [%%out+%zu], %%r4;\n", offset);
        break;
    case 'd':
        fprintf(text, "st.b64 [%%out+%zu], %%rd4;\n", offset);
        break;
    case 'f':
    case 'n':
        fprintf(text, "st.f32 [%%out+%zu], %%f4;\n", offset);
        break;
    case 'F':
    case 'N':
        fprintf(text, "st.f64 [%%out+%zu], %%fd4;\n", offset);
        break;
    case 'h':
        fprintf(text, "st.b16 [%%out+%zu], %%h4;\n", offset);
        break;
    default:
        fprintf(text, "selp.b32 %%r30, 1, 0, %%p1;\nselp.b32 %%r31, 2, 0, %%p2;\n");
        if (result == 'q')
            fprintf(text, "or.b32 %%r30, %%r30, %%r31;\n");
        fprintf(text, "st.b32 [%%out+%zu], %%r30;\n", offset);
        break;
    }
}

static void check_result(const struct eval_case *c, uint64_t actual)
{
    uint64_t magnitude = actual & (c->result == 'n' ? 0x7fffffffu : 0x7fffffffffffffffu);
    if (c->result == 'n')
        cr_expect_gt(magnitude, 0x7f800000u, "%s: %" PRIx64 " is no NaN", c->code, actual);
    else if (c->result == 'N')
        cr_expect_gt(magnitude, 0x7ff0000000000000u, "%s: %" PRIx64 " is no NaN", c->code, actual);
    else
        cr_expect_eq(actual, c->expected,
                     "%s of %" PRIx64 ", %" PRIx64 ", %" PRIx64 ": %" PRIx64 ", not %" PRIx64,
                     c->code, c->a, c->b, c->c, actual, c->expected);
}

void check_eval_table(const struct eval_case *cases, size_t count)
{
    char *code = NULL;
    size_t len = 0;
    FILE *text = open_memstream(&code, &len);
    uint64_t *in = calloc(count * 3, sizeof *in);
    uint64_t *out = calloc(count, sizeof *out);
    fprintf(text, "setp.eq.b64 %%p3, %%in, %%in;\nsetp.ne.b64 %%p4, %%in, %%in;\n");
    for (size_t i = 0; i < count; i++) {
        in[3 * i] = cases[i].a;
        in[3 * i + 1] = cases[i].b;
        in[3 * i + 2] = cases[i].c;
        write_loads(text, i * 24);
        fprintf(text, "%s\n", cases[i].code);
        write_store(text, cases[i].result, i * 8);
    }
    fclose(text);
    harness_eval(code, in, out);
    for (size_t i = 0; i < count; i++)
        check_result(&cases[i], out[i]);
    free(code);
    free(in);
    free(out);
}

void check_refused(const char *const *instructions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct pxr_error err = {0};
        char name[64] = {0};
        enum pxr_status status = harness_eval_status(instructions[i], &err);
        cr_expect_eq(status, PXR_UNSUPPORTED, "%s: %s", instructions[i], err.message);
        snprintf(name, sizeof name, "'%.*s'", (int)strcspn(instructions[i], " "), instructions[i]);
        cr_expect_not_null(strstr(err.message, name), "%s: %s", instructions[i], err.message);
    }
}

/* Everything an instruction may read comes from memory, and all it may write goes there. */
static char *straight_text(const char *instruction)
{
    char *code = NULL;
    size_t len = 0;
    FILE *text = open_memstream(&code, &len);
    fprintf(text, ".version 9.0\n.target sm_100a\n.address_size 64\n"
                  ".visible .entry eval(.param .u64 in, .param .u64 out)\n{\n"
                  ".reg .b64 %%in, %%out;\n.reg .pred %%p<16>;\n.reg .b16 %%h<16>;\n"
                  ".reg .b32 %%r<32>;\n.reg .b64 %%rd<32>;\n.reg .f32 %%f<32>;\n"
                  ".reg .f64 %%fd<32>;\n"
                  "ld.param.u64 %%in, [in];\nld.param.u64 %%out, [out];\n");
    write_loads(text, 0);
    fprintf(text, "%s\n", instruction);
    for (const char *result = "rdfFhq"; *result != '\0'; result++)
        write_store(text, *result, (size_t)(*result - 'A') * 8);
    fprintf(text, "ret;\n}\n");
    fclose(text);
    return code;
}

void check_straight_line(const char *const *instructions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct harness harness;
        struct pxr_error err = {0};
        char *text = straight_text(instructions[i]);
        enum pxr_status status = harness_open(&harness, text, "eval", false, &err);
        cr_assert_eq(status, PXR_OK, "%s", err.message);
        bool has_branch = strstr(harness.ir, " br i1 ") || strstr(harness.ir, " switch ");
        cr_expect_not(has_branch, "%s:\n%s", instructions[i], harness.ir);
        harness_close(&harness);
        free(text);
    }
}
