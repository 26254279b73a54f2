/* SPDX-License-Identifier: Apache-2.0
 *
 * The line number program, written out by hand.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "jit/lines.h"

/* minimum_instruction_length 1, line_base -5, line_range 14, opcode_base 13, no files. */
#define HEADER           1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0
#define HEADER_BYTES     22

#define SET_ADDRESS(low) 0, 9, 2, low, 0x10, 0, 0, 0, 0, 0, 0
#define END              0, 1, 1
#define SPECIAL(address_advance, line_advance) ((line_advance) + 5 + 14 * (address_advance) + 13)

/* A unit out of a program of at most 200 bytes; the sizes are filled in. */
static size_t make_unit(uint8_t *unit, const uint8_t *program, size_t program_bytes)
{
    static const uint8_t head[] = {0, 0, 0, 0, 5, 0, 8, 0, HEADER_BYTES, 0, 0, 0, HEADER};
    memcpy(unit, head, sizeof head);
    memcpy(unit + sizeof head, program, program_bytes);
    unit[0] = (uint8_t)(sizeof head - 4 + program_bytes);
    return sizeof head + program_bytes;
}

static const uint8_t simple[] = {
    SET_ADDRESS(0), SPECIAL(0, 6), SPECIAL(4, 3), 2, 8, 3, 36, 1, 2, 16, END};

Test(lines, rows_cover_up_to_the_next_row)
{
    uint8_t unit[256];
    size_t len = make_unit(unit, simple, sizeof simple);
    struct jit_lines lines;
    cr_assert_eq(jit_lines_init(&lines, unit, len, 0, UINT64_MAX, NULL), PXR_OK);
    cr_expect_eq(jit_lines_find(&lines, 0xfff), 0);
    cr_expect_eq(jit_lines_find(&lines, 0x1000), 7);
    cr_expect_eq(jit_lines_find(&lines, 0x1003), 7);
    cr_expect_eq(jit_lines_find(&lines, 0x1004), 10);
    cr_expect_eq(jit_lines_find(&lines, 0x100b), 10);
    cr_expect_eq(jit_lines_find(&lines, 0x100c), 46);
    jit_lines_fini(&lines);
}

Test(lines, nothing_is_known_after_a_sequence)
{
    uint8_t unit[256];
    size_t len = make_unit(unit, simple, sizeof simple);
    struct jit_lines lines;
    cr_assert_eq(jit_lines_init(&lines, unit, len, 0, UINT64_MAX, NULL), PXR_OK);
    cr_expect_eq(jit_lines_find(&lines, 0x101c), 0);
    cr_expect_eq(jit_lines_find(&lines, UINT64_MAX), 0);
    jit_lines_fini(&lines);
}

Test(lines, sequences_in_any_order_are_sorted)
{
    static const uint8_t program[] = {SET_ADDRESS(0x20), SPECIAL(0, 2), 2, 16, END,
                                      SET_ADDRESS(0x00), SPECIAL(0, 1), 2, 32, END};
    uint8_t unit[256];
    size_t len = make_unit(unit, program, sizeof program);
    struct jit_lines lines;
    cr_assert_eq(jit_lines_init(&lines, unit, len, 0, UINT64_MAX, NULL), PXR_OK);
    cr_expect_eq(jit_lines_find(&lines, 0x1010), 2);
    cr_expect_eq(jit_lines_find(&lines, 0x1020), 3, "the end of one hides the start of the other");
    cr_expect_eq(jit_lines_find(&lines, 0x1030), 0);
    jit_lines_fini(&lines);
}

Test(lines, rows_outside_the_code_are_left_out)
{
    uint8_t unit[256];
    size_t len = make_unit(unit, simple, sizeof simple);
    struct jit_lines lines;
    cr_assert_eq(jit_lines_init(&lines, unit, len, 0x5000, 0x6000, NULL), PXR_OK);
    cr_expect_eq(lines.count, 0);
    cr_expect_eq(jit_lines_find(&lines, 0x5000), 0);
    jit_lines_fini(&lines);
}

Test(lines, other_versions_and_zero_line_range_are_refused)
{
    uint8_t unit[256];
    size_t len = make_unit(unit, simple, sizeof simple);
    struct jit_lines lines;
    unit[4] = 4;
    cr_expect_eq(jit_lines_init(&lines, unit, len, 0, UINT64_MAX, NULL), PXR_COMPILE_FAILED);
    unit[4] = 5;
    unit[16] = 0;
    cr_expect_eq(jit_lines_init(&lines, unit, len, 0, UINT64_MAX, NULL), PXR_COMPILE_FAILED);
}

Test(lines, cut_program_is_refused_or_read_in_bounds)
{
    uint8_t unit[256];
    size_t len = make_unit(unit, simple, sizeof simple);
    for (size_t cut = 1; cut < len; cut++) {
        uint8_t *copy = malloc(cut);
        memcpy(copy, unit, cut);
        struct jit_lines lines;
        cr_expect_eq(jit_lines_init(&lines, copy, cut, 0, UINT64_MAX, NULL), PXR_COMPILE_FAILED);
        free(copy);
    }
}
