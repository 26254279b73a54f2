/* SPDX-License-Identifier: Apache-2.0
 *
 * The generator and the reducer, without running any kernel.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "ptx/ptx.h"
#include "tests/random/generator.h"
#include "tests/random/reduce.h"
#include "tests/shapes/case.h"

#define SEEDS 200

static struct text text_of(uint64_t seed)
{
    struct generator_config config = generator_config_from_seed(seed);
    struct text text = {0};
    generator_make(&config, &text);
    return text;
}

Test(generator, a_seed_stands_for_one_text)
{
    struct text first = text_of(5);
    struct text again = text_of(5);
    struct text other = text_of(6);
    cr_assert_str_eq(first.bytes, again.bytes);
    cr_assert_str_neq(first.bytes, other.bytes);
    text_fini(&first);
    text_fini(&again);
    text_fini(&other);
}

Test(generator, every_text_is_a_case_and_a_module)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct text text = text_of(seed);
        struct pxr_error err = {0};
        struct ptx_case c;
        struct ptx_module *module;
        struct pxr_str view = {text.bytes, text.len};
        cr_assert_eq(case_parse("case", text.bytes, &c, &err), PXR_OK, "%s", err.message);
        cr_assert_eq(ptx_parse(view, "module", &module, &err), PXR_OK, "seed %d: %s", (int)seed,
                     err.message);
        cr_assert_eq(ptx_find_entry(module, "random")->param_count, c.arg_count);
        ptx_module_destroy(module);
        case_fini(&c);
        text_fini(&text);
    }
}

Test(generator, barriers_and_warp_operations_can_be_left_out)
{
    struct generator_config config = generator_config_from_seed(3);
    config.statements = 60;
    config.has_barriers = config.has_warp_ops = config.has_exits = false;
    struct text text = {0};
    generator_make(&config, &text);
    cr_assert_null(strstr(text.bytes, " bar."));
    cr_assert_null(strstr(text.bytes, " barrier."));
    cr_assert_null(strstr(text.bytes, ".sync"));
    text_fini(&text);
}

/* The fault needs both of these lines, and at least one thread too many. */
static int needs_two_lines(const char *bytes)
{
    const char *first = strstr(bytes, "first;");
    return first && strstr(first, "second 17;") ? 1 : 0;
}

Test(reducer, only_what_the_fault_needs_is_left)
{
    struct text text = {0};
    text_add(&text, "// launch: grid 2 block 7 1 1\n// buffer: u32 x 1 = 0\n{\n");
    for (int n = 0; n < 100; n++)
        text_add(&text, "//<\n    add %d;\n%s//>\n", n,
                 n == 40   ? "    first;\n"
                 : n == 80 ? "    @%p0 second 17;\n"
                           : "");
    text_add(&text, "}\n");
    struct reducer reducer = {
        .judge = needs_two_lines, .candidate = "no such file", .max_checks = 10000, .wanted = 1};
    reduce_text(&reducer, &text);
    cr_assert_str_eq(text.bytes, "// launch: grid 1 block 1 1 1\n// buffer: u32 x 1 = 0\n"
                                 "    first;\n    @%p0 second 17;\n");
    text_fini(&text);
}
