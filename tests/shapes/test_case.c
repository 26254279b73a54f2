/* SPDX-License-Identifier: Apache-2.0
 *
 * The format of case files and its formulas.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/shapes/case.h"
#include "tests/shapes/formula.h"

static int64_t value_of(const char *text, int64_t i)
{
    int64_t value;
    cr_assert(formula_eval(text, i, &value), "%s", text);
    return value;
}

Test(formula, has_the_precedence_of_c)
{
    cr_assert_eq(value_of("1 + 2 * 3 << 1", 0), 14);
    cr_assert_eq(value_of("6 & 3 == 3", 0), 0);
    cr_assert_eq(value_of("1 | 6 ^ 2 & 3", 0), (1 | (6 ^ (2 & 3))));
    cr_assert_eq(value_of("i % 2 ? i > 3 ? 10 : 20 : 30", 5), 10);
    cr_assert_eq(value_of("10 - 3 - 2", 0), 5);
    cr_assert_eq(value_of("-i / 2", 7), -3);
    cr_assert_eq(value_of("~0 >> 1", 0), -1);
    cr_assert_eq(value_of("i >= 3 && i <= 4 || !i", 4), 1);
}

Test(formula, sums_count_k_and_know_the_outer_count_as_j)
{
    cr_assert_eq(value_of("sum(5, k * k)", 0), 30);
    cr_assert_eq(value_of("sum(3, sum(2, 10 * j + k))", 0), 0 + 1 + 10 + 11 + 20 + 21);
    cr_assert_eq(value_of("sum(0, 1 / 0) + xor(4, 1 << k)", 0), 15);
    cr_assert_eq(value_of("and(0, 1) == -1 && or(3, k) == 3", 0), 1);
}

Test(formula, functions_are_those_of_32_bits)
{
    cr_assert_eq(value_of("popc(255) + clz(1) + min(2, -3) + max(4, 5)", 0), 8 + 31 - 3 + 5);
    cr_assert_eq(value_of("hash(i)", 9), (int64_t)formula_hash(9));
    cr_assert_neq(formula_hash(1), formula_hash(2));
}

Test(formula, what_is_none_is_refused)
{
    static const char *const texts[] = {"",       "1 +",    "(1",    "1 2",
                                        "foo(1)", "sum(2)", "1 ? 2", "min(1)"};
    int64_t value;
    for (size_t n = 0; n < sizeof texts / sizeof *texts; n++)
        cr_assert_not(formula_eval(texts[n], 0, &value), "%s", texts[n]);
}

static const char good_text[] = "// A case.\n"
                                "// launch: grid 2 1 3 block 32 shared 64\n"
                                "// buffer: u16 x 6 = { 1, 0x20*2,\n"
                                "//   -1 }\n"
                                "// expect: i * 70000\n"
                                "// value: f32 = 3\n"
                                "// buffer: u8 x 2 = 7\n"
                                "// expect: same\n";

Test(case_file, header_says_launch_and_arguments)
{
    struct ptx_case c;
    struct pxr_error err;
    static const uint16_t initial[] = {1, 32, 32, 0xffff, 1, 32};
    static const uint16_t expected[] = {0, 4464, 8928, 13392, 17856, 22320};
    const float three = 3;
    cr_assert_eq(case_parse("good", good_text, &c, &err), PXR_OK, "%s", err.message);
    cr_assert(c.grid[0] == 2 && c.grid[1] == 1 && c.grid[2] == 3);
    cr_assert(c.block[0] == 32 && c.block[1] == 1 && c.dynamic_shared_bytes == 64);
    cr_assert_eq(c.arg_count, 3);
    cr_assert_eq(c.args[0].bytes, sizeof initial);
    cr_assert_arr_eq(c.args[0].initial, initial, sizeof initial);
    cr_assert_arr_eq(c.args[0].expected, expected, sizeof expected);
    cr_assert_not(c.args[1].is_buffer);
    cr_assert_arr_eq(c.args[1].initial, &three, sizeof three);
    cr_assert_arr_eq(c.args[2].expected, "\7\7", 2);
    case_fini(&c);
}

Test(case_file, wrong_lines_are_refused_with_their_number)
{
    static const char *const texts[] = {
        "//\n// launch: grid 1 blocks 2\n", "//\n// buffer: u32 x 2 = i +\n",
        "//\n// buffer: u12 x 2 = i\n",     "//\n// buffer: u32 x 2 = { 1, 2, 3 }\n",
        "//\n// buffer: u32 x 2 = { }\n",   "//\n// expect: 1\n",
        "//\n// value: u32 x 0 = 1\n",
    };
    for (size_t n = 0; n < sizeof texts / sizeof *texts; n++) {
        struct ptx_case c;
        struct pxr_error err = {0};
        cr_assert_neq(case_parse("bad", texts[n], &c, &err), PXR_OK, "%s", texts[n]);
        cr_assert_eq(err.line, 2, "%s", texts[n]);
        case_fini(&c);
    }
}

Test(case_file, first_wrong_element_is_named)
{
    struct ptx_case c;
    struct pxr_error err = {0};
    struct case_memory memory;
    cr_assert_eq(case_parse("good", good_text, &c, &err), PXR_OK);
    cr_assert(case_memory_init(&c, &memory));
    cr_assert_null(memory.bytes[1]);
    cr_assert_not(case_memory_check(&c, &memory, &err));
    memcpy(memory.bytes[0], c.args[0].expected, c.args[0].bytes);
    cr_assert(case_memory_check(&c, &memory, &err));
    memory.bytes[2][1] = 8;
    cr_assert_not(case_memory_check(&c, &memory, &err));
    cr_assert(strstr(err.message, "argument 2, element 1: want 0x7 (7), got 0x8"), "%s",
              err.message);
    case_memory_fini(&memory);
    case_fini(&c);
}
