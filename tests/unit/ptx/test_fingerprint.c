/* SPDX-License-Identifier: Apache-2.0
 *
 * What a fingerprint depends on, and what it does not.
 */
#include "parse_helper.h"

#include "ptx/fingerprint.h"

struct print {
    char *bytes;
    size_t count;
};

static void append(void *argument, const void *bytes, size_t count)
{
    struct print *print = argument;
    print->bytes = realloc(print->bytes, print->count + count + 1);
    memcpy(print->bytes + print->count, bytes, count);
    print->count += count;
}

static struct print print_of(const char *text)
{
    struct ptx_module *module = parse_text(text);
    const struct ptx_func *kernel = ptx_find_entry(module, "k");
    struct ptx_kernel_layout layout;
    struct print print = {0};
    cr_assert_not_null(kernel);
    cr_assert_eq(ptx_layout_kernel(module, kernel, &layout, NULL), PXR_OK);
    cr_assert_eq(ptx_fingerprint(module, kernel, &layout, append, &print, NULL), PXR_OK);
    ptx_layout_fini(&layout);
    ptx_module_destroy(module);
    return print;
}

static bool are_equal(const char *a, const char *b)
{
    struct print first = print_of(a);
    struct print second = print_of(b);
    bool result =
        first.count == second.count && memcmp(first.bytes, second.bytes, first.count) == 0;
    free(first.bytes);
    free(second.bytes);
    return result;
}

#define HEAD ".version 8.0\n.target sm_75\n.address_size 64\n"
#define VARS ".global .align 4 .b32 g[4] = {1, 2, 3, 4};\n.const .f32 c = 0f3f800000;\n"
#define FUNC                                                                                       \
    ".func (.reg .b32 %out) f (.reg .b32 %in)\n"                                                   \
    "{ add.u32 %out, %in, 1; ret; }\n"
#define KERNEL                                                                                     \
    ".visible .entry k(.param .u64 a, .param .u32 n) .maxntid 128, 1, 1\n"                         \
    "{ .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<4>;\n"                     \
    " .shared .align 4 .b8 s[64];\n"                                                               \
    " ld.param.u64 %d1, [a]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n"                        \
    " setp.lt.u32 %p1, %r2, %r1; @%p1  bra L1;\n"                                                  \
    " call (%r3), f, (%r2);\n"                                                                     \
    " st.shared.u32 [s+4], %r3; mov.f32 %f1, 0f40000000; bar.sync 0;\n"                            \
    "L1: .pragma \"nounroll\";\n"                                                                  \
    " ld.global.u32 %r4, [g+8]; st.global.v2.u32 [%d1+16], {%r4, %r3};\n"                          \
    "L2: ret; }\n"
#define TEXT HEAD VARS FUNC KERNEL

/* TEXT with one change; static storage. */
static const char *changed(const char *from, const char *to)
{
    static char text[4096];
    const char *at = strstr(TEXT, from);
    cr_assert_not_null(at, "'%s' is not there", from);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - TEXT), TEXT, to, at + strlen(from));
    return text;
}

Test(fingerprint, is_the_same_for_the_same_text)
{
    cr_expect(are_equal(TEXT, TEXT));
}

Test(fingerprint, depends_on_what_decides_the_code)
{
    static const char *const changes[][2] = {
        {".version 8.0", ".version 8.1"},
        {"sm_75", "sm_80"},
        {"g[4] = {1, 2, 3, 4}", "g[5]          = {1, 2, 3}"},
        {".align 4 .b32 g", ".align 8 .b32 g"},
        {"%in, 1;", "%in, 2;"},
        {"add.u32 %out", "sub.u32 %out"},
        {".param .u32 n", ".param .u64 n"},
        {"128, 1, 1", "128, 2, 1"},
        {"s[64]", "s[60]"},
        {".shared .align 4", ".shared .align 8"},
        {"setp.lt", "setp.le"},
        {"@%p1  bra", "@!%p1 bra"}, /* in the same column */
        {"@%p1", "@%p2"},
        {"bra L1", "bra L2"},
        {"call (%r3), f, (%r2)", "call (%r3), f, (%r1)"},
        {"[s+4]", "[s+8]"},
        {"%r3; mov.f32", "%r2; mov.f32"},
        {"0f40000000", "0f40000001"},
        {"bar.sync 0", "bar.sync 1"},
        {"nounroll", "nounrolk"},
        {"[g+8]", "[g+4]"},
        {"ld.global.u32 %r4, [g+8]", "ld.const.u32 %r4, [c]"},
        {"ld.global.u32", "ld.global.s32"},
        {"{%r4, %r3}", "{%r3, %r4}"},
        {"[%d1+16]", "[%d2+16]"},
        {"mov.u32 %r2, %tid.x", "mov.u32 %r2, %tid.y"},
        {"\nL1:", "\n\nL1:"}, /* lines are reported */
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        cr_expect_not(are_equal(TEXT, changed(changes[i][0], changes[i][1])), "'%s' for '%s'",
                      changes[i][1], changes[i][0]);
}

Test(fingerprint, does_not_depend_on_the_rest)
{
    cr_expect(are_equal(TEXT, changed("{1, 2, 3, 4}", "{4, 3, 2, 1}")), "initial values");
    cr_expect(are_equal(TEXT, changed("L2: ret; }\n", "L2: ret; } // a comment\n")));
    cr_expect(are_equal(TEXT, TEXT ".visible .entry other() { ret; }\n"));
    cr_expect(are_equal(TEXT, TEXT ".func unused() { trap; }\n"));
}

/* Short addresses anywhere make all kernels of the module take more care. */
Test(fingerprint, depends_on_how_others_treat_addresses)
{
    cr_expect_not(are_equal(
        TEXT,
        TEXT ".visible .entry other() { .reg .b32 %r<2>; .local .b32 l[2]; mov.u32 %r1, l; }\n"));
}

#define INDIRECT                                                                                   \
    HEAD ".func (.reg .b32 %out) f (.reg .b32 %in) { mov.u32 %out, %in; ret; }\n"                  \
         ".func (.reg .b32 %out) h (.reg .b32 %in) { mov.u32 %out, 1; ret; }\n"                    \
         ".visible .entry k(.param .u64 a)\n"                                                      \
         "{ .reg .b32 %r<9>; .reg .b64 %d<9>; ld.param.u64 %d1, [a];\n"                            \
         " P: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n"                                     \
         " call (%r1), %d1, (%r2), P; ret; }\n"

/* A call through a register reaches whatever has an address. */
Test(fingerprint, depends_on_functions_that_have_an_address)
{
    static const char takes_f[] =
        INDIRECT ".visible .entry o() { .reg .b64 %d<2>; mov.u64 %d1, f; ret; }\n";
    static const char takes_h[] =
        INDIRECT ".visible .entry o() { .reg .b64 %d<2>; mov.u64 %d1, h; ret; }\n";
    cr_expect_not(are_equal(INDIRECT, takes_f));
    cr_expect_not(are_equal(takes_f, takes_h));
    cr_expect(are_equal(takes_f, takes_f));
}

/* Two functions of one name in a linked module are two functions. */
Test(fingerprint, tells_functions_of_one_name_apart)
{
    static const char first[] =
        HEAD ".extern .func (.reg .b32 %o) outer (.reg .b32 %i);\n" FUNC
             ".visible .entry k(.param .u64 a) { .reg .b32 %r<3>; .reg .b64 %d<2>;\n"
             " ld.param.u64 %d1, [a]; call (%r1), f, (1); call (%r2), outer, (1);\n"
             " st.global.u32 [%d1], %r1; ret; }\n";
    static const char second[] =
        HEAD ".func (.reg .b32 %out) f (.reg .b32 %in) { add.u32 %out, %in, 2; ret; }\n"
             ".visible .func (.reg .b32 %o) outer (.reg .b32 %i) { call (%o), f, (%i); ret; }\n";
    static const char other[] =
        HEAD ".func (.reg .b32 %out) f (.reg .b32 %in) { add.u32 %out, %in, 3; ret; }\n"
             ".visible .func (.reg .b32 %o) outer (.reg .b32 %i) { call (%o), f, (%i); ret; }\n";
    struct print prints[2] = {{0}};
    for (int i = 0; i < 2; i++) {
        struct ptx_module *parts[2] = {parse_text(first), parse_text(i ? other : second)};
        struct ptx_module *linked = NULL;
        struct ptx_kernel_layout layout;
        cr_assert_eq(ptx_link((const struct ptx_module *const *)parts, 2, "linked", &linked, NULL),
                     PXR_OK);
        const struct ptx_func *kernel = ptx_find_entry(linked, "k");
        cr_assert_eq(ptx_layout_kernel(linked, kernel, &layout, NULL), PXR_OK);
        cr_assert_eq(ptx_fingerprint(linked, kernel, &layout, append, &prints[i], NULL), PXR_OK);
        ptx_layout_fini(&layout);
        ptx_module_destroy(linked);
        ptx_module_destroy(parts[0]);
        ptx_module_destroy(parts[1]);
    }
    cr_expect(prints[0].count != prints[1].count ||
              memcmp(prints[0].bytes, prints[1].bytes, prints[0].count) != 0);
    free(prints[0].bytes);
    free(prints[1].bytes);
}
