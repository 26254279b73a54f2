/* SPDX-License-Identifier: Apache-2.0
 *
 * One instruction of text, evaluated for given operand bits. Registers to write it with: %h (16
 * bits), %r (32), %d (64), %p (predicates), each with 0 to 7.
 */
#ifndef PTXRUN_TESTS_UNIT_ORACLE_SCALAR_HELPER_H
#define PTXRUN_TESTS_UNIT_ORACLE_SCALAR_HELPER_H

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "tests/oracle/bounds.h"
#include "tests/oracle/scalar.h"
#include "tests/oracle/softfloat.h"

struct vector {
    const char *text;
    uint64_t in[ORACLE_MAX_SOURCES];
    uint64_t want;
};

/* There until the next call. */
static inline const struct ptx_inst *instruction(const char *text)
{
    static struct ptx_module *module;
    char source[512];
    struct pxr_error err = {0};
    struct pxr_str str;

    str.len = (size_t)snprintf(source, sizeof(source),
                               ".version 9.0\n.target sm_100a\n.address_size 64\n"
                               ".visible .entry k()\n{\n.reg .b16 %%h<8>;\n.reg .b32 %%r<8>;\n"
                               ".reg .b64 %%d<8>;\n.reg .pred %%p<8>;\n%s;\nret;\n}\n",
                               text);
    str.ptr = source;
    ptx_module_destroy(module);
    cr_assert_eq(ptx_parse(str, "test", &module, &err), PXR_OK, "%s: %s", text, err.message);
    for (uint32_t i = 0; i < module->funcs[0]->stmt_count; i++) {
        if (module->funcs[0]->stmts[i].kind == PTX_STMT_INST)
            return &module->funcs[0]->stmts[i].inst;
    }
    cr_assert_fail("no instruction in: %s", text);
    return NULL;
}

static inline struct oracle_scalar evaluate(const struct ptx_inst *inst, const uint64_t *in)
{
    struct oracle_scalar scalar = {.in_count = inst->operand_count - 1};

    for (unsigned i = 0; i < scalar.in_count; i++)
        scalar.in[i].u64 = in[i];
    cr_assert_eq(oracle_evaluate(inst, &scalar), PXR_OK);
    return scalar;
}

static inline void check(const struct vector *vectors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct vector *vector = &vectors[i];
        uint64_t got = evaluate(instruction(vector->text), vector->in).out.u64;

        cr_expect_eq(got, vector->want,
                     "%s (0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 "): 0x%" PRIx64
                     ", expected 0x%" PRIx64,
                     vector->text, vector->in[0], vector->in[1], vector->in[2], got, vector->want);
    }
}

#define CHECK(vectors) check(vectors, sizeof(vectors) / sizeof((vectors)[0]))

static inline uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

#endif
