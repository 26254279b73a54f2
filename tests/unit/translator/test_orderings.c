/* SPDX-License-Identifier: Apache-2.0
 *
 * The orderings of PTX ISA "Memory Consistency Model" in the code that the emitters make. x86 does
 * for every access what others do for those that ask, so results would not show that one is
 * missing.
 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#define HEAD                                                                                       \
    ".version 9.0\n.target sm_100a\n.address_size 64\n"                                            \
    ".visible .entry k(.param .u64 p)\n{\n"                                                        \
    ".reg .b16 %%h<4>; .reg .b32 %%r<4>; .reg .b64 %%rd<4>; .reg .b128 %%q<4>; .reg .f32 "         \
    "%%f<4>;\n"                                                                                    \
    ".reg .f64 %%d<4>;\nld.param.u64 %%rd0, [p];\n"

static const char *const scopes[] = {"cta", "cluster", "gpu", "sys"};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* How many lines have `access`; each must have the ordering, too. */
static unsigned count_lines(const char *ir, const char *access, const char *ordering,
                            const char *instruction)
{
    unsigned count = 0;
    for (const char *line = ir; line != NULL && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t length = strcspn(line, "\n");
        char *text = strndup(line, length);
        if (strstr(text, access) != NULL) {
            cr_expect_not_null(strstr(text, ordering), "%s: not%s:\n%s", instruction, ordering,
                               text);
            count++;
        }
        cr_expect_null(strstr(text, "singlethread"), "%s: within one thread:\n%s", instruction,
                       text);
        free(text);
    }
    return count;
}

/* Every line with `access` has the ordering, and there is one. */
static void expect_ordering(const char *instruction, const char *access, const char *ordering)
{
    char text[2048];
    snprintf(text, sizeof text, HEAD "%s\nret;\n}\n", instruction);
    struct harness harness;
    struct pxr_error err = {0};
    cr_assert_eq(harness_open(&harness, text, NULL, false, &err), PXR_OK, "%s: %s", instruction,
                 err.message);
    cr_expect_gt(count_lines(harness.ir, access, ordering, instruction), 0, "%s: no%s in\n%s",
                 instruction, access, harness.ir);
    harness_close(&harness);
}

/* With %s for the ordering and the scope. */
static void expect_in_all_scopes(const char *format, const char *semantics, const char *access,
                                 const char *ordering)
{
    for (size_t i = 0; i < COUNT(scopes); i++) {
        char how[64];
        char instruction[256];
        snprintf(how, sizeof how, "%s.%s", semantics, scopes[i]);
        const char *at = strstr(format, "%s");
        snprintf(instruction, sizeof instruction, "%.*s%s%s", (int)(at - format), format, how,
                 at + 2);
        expect_ordering(instruction, access, ordering);
    }
}

Test(orderings, of_loads)
{
    static const char *const loads[] = {
        "ld.%s.u8 %h1, [%rd0];",
        "ld.%s.global.u32 %r1, [%rd0];",
        "ld.%s.global.f64 %d1, [%rd0];",
        "ld.%s.v2.u64 {%rd1, %rd2}, [%rd0];",
        "ld.%s.global.v2.f32 {%f1, %f2}, [%rd0];",
        "ld.%s.global.b128 %q1, [%rd0];",
        "ld.%s.shared::cluster.u32 %r1, [%rd0];",
        "ld.%s.shared.u64 %rd1, [%rd0];",
    };
    for (size_t i = 0; i < COUNT(loads); i++) {
        expect_in_all_scopes(loads[i], "relaxed", "load atomic", " monotonic,");
        expect_in_all_scopes(loads[i], "acquire", "load atomic", " acquire,");
    }
    expect_ordering("ld.volatile.global.u32 %r1, [%rd0];", "load atomic volatile", " monotonic,");
    expect_ordering("ld.mmio.relaxed.sys.u32 %r1, [%rd0];", "load atomic volatile", " monotonic,");
}

Test(orderings, of_stores)
{
    static const char *const stores[] = {
        "st.%s.u8 [%rd0], %h1;",
        "st.%s.global.u32 [%rd0], %r1;",
        "st.%s.global.f64 [%rd0], %d1;",
        "st.%s.v2.u64 [%rd0], {%rd1, %rd2};",
        "st.%s.global.v2.f32 [%rd0], {%f1, %f2};",
        "st.%s.global.b128 [%rd0], %q1;",
        "st.%s.shared::cluster.u32 [%rd0], %r1;",
        "st.%s.shared.u64 [%rd0], %rd1;",
    };
    for (size_t i = 0; i < COUNT(stores); i++) {
        expect_in_all_scopes(stores[i], "relaxed", "store atomic", " monotonic,");
        expect_in_all_scopes(stores[i], "release", "store atomic", " release,");
    }
    expect_ordering("st.volatile.global.u32 [%rd0], %r1;", "store atomic volatile", " monotonic,");
}

/* Semantics of an operation that reads and writes; "" is .relaxed. */
static const struct {
    const char *semantics;
    const char *ordering;
    const char *exchange; /* of a cmpxchg: where it succeeds and where not */
} kinds[] = {
    {"relaxed", " monotonic,", " monotonic monotonic,"},
    {"acquire", " acquire,", " acquire acquire,"},
    {"release", " release,", " release monotonic,"},
    {"acq_rel", " acq_rel,", " acq_rel acquire,"},
};

Test(orderings, of_atomics)
{
    static const char *const operations[] = {
        "atom.%s.add.u32 %r1, [%rd0], %r2;",        "atom.%s.global.min.s64 %rd1, [%rd0], %rd2;",
        "atom.%s.global.inc.u32 %r1, [%rd0], %r2;", "atom.%s.global.exch.b64 %rd1, [%rd0], %rd2;",
        "atom.%s.global.or.b32 %r1, [%rd0], %r2;",  "atom.%s.global.exch.b128 %q1, [%rd0], %q2;",
        "atom.%s.global.add.f32 %f1, [%rd0], %f2;", "atom.%s.global.add.f64 %d1, [%rd0], %d2;",
    };
    static const char *const exchanges[] = {
        "atom.%s.global.cas.b16 %h1, [%rd0], %h2, %h3;",
        "atom.%s.cas.b32 %r1, [%rd0], %r2, %r3;",
        "atom.%s.global.cas.b128 %q1, [%rd0], %q2, %q3;",
    };
    for (size_t k = 0; k < COUNT(kinds); k++) {
        for (size_t i = 0; i < COUNT(operations); i++)
            expect_in_all_scopes(operations[i], kinds[k].semantics, "atomicrmw", kinds[k].ordering);
        for (size_t i = 0; i < COUNT(exchanges); i++)
            expect_in_all_scopes(exchanges[i], kinds[k].semantics, "cmpxchg", kinds[k].exchange);
    }
    expect_ordering("atom.global.add.u32 %r1, [%rd0], %r2;", "atomicrmw", " monotonic,");
    expect_in_all_scopes("red.%s.global.add.u32 [%rd0], %r1;", "release", "atomicrmw", " release,");
}

/* Helpers, which have the strongest ordering for all. */
Test(orderings, of_atomics_on_floats)
{
    static const char *const operations[] = {
        "atom.%s.add.f32 %f1, [%rd0], %f2;",
        "atom.%s.global.add.noftz.f16 %h1, [%rd0], %h2;",
        "atom.%s.global.add.noftz.bf16x2 %r1, [%rd0], %r2;",
    };
    for (size_t k = 0; k < COUNT(kinds); k++)
        for (size_t i = 0; i < COUNT(operations); i++)
            expect_in_all_scopes(operations[i], kinds[k].semantics, "cmpxchg", " seq_cst ");
}

Test(orderings, of_fences)
{
    static const struct {
        const char *instruction;
        const char *ordering;
    } fences[] = {
        {"fence.sc.%s;", " seq_cst"},      {"fence.acq_rel.%s;", " acq_rel"},
        {"fence.acquire.%s;", " acquire"}, {"fence.release.%s;", " release"},
        {"fence.%s;", " seq_cst"}, /* it need not be more than acq_rel */
    };
    for (size_t i = 0; i < COUNT(fences); i++)
        for (size_t s = 1; s < COUNT(scopes); s++) {
            char instruction[64];
            const char *at = strstr(fences[i].instruction, "%s");
            snprintf(instruction, sizeof instruction, "%.*s%s;", (int)(at - fences[i].instruction),
                     fences[i].instruction, scopes[s]);
            expect_ordering(instruction, "fence ", fences[i].ordering);
        }
    expect_ordering("membar.gl;", "fence ", " seq_cst");
    expect_ordering("membar.sys;", "fence ", " seq_cst");
    expect_ordering("fence.proxy.alias;", "fence ", " seq_cst");
}
