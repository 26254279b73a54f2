/* SPDX-License-Identifier: Apache-2.0
 *
 * Places in the source, as .loc and .file tell them.
 */
#include "parse_helper.h"
#include "ptx/place.h"

/* Numbers are lines of the text, which begin at 4 behind the header. */
static const char text[] = HEADER /*             */
    ".visible .entry first()\n"   /* 4 */
    "{\n"                         /* 5 */
    ".reg .b32 %r<4>;\n"          /* 6 */
    "mov.u32 %r1, 1;\n"           /* 7 */
    "\t.loc\t2 30 7\n"            /* 8 */
    "mov.u32 %r2, 2;\n"           /* 9 */
    "mov.u32 %r3, 3;\n"           /* 10 */
    ".loc 1 12 0, function_name other, inlined_at 2 31 5\n"
    "mov.u32 %r1, 4;\n"          /* 12 */
    ".loc 2 0 0\n"               /* 13 */
    "mov.u32 %r1, 5;\n"          /* 14 */
    ".loc 3 8 1\n"               /* 15 */
    "ret;\n"                     /* 16 */
    "}\n"                        /* 17 */
    ".file 1 \"a.h\"\n"          /* 18 */
    ".visible .entry second()\n" /* 19 */
    "{\n"                        /* 20 */
    "ret;\n"                     /* 21 */
    "}\n"                        /* 22 */
    ".file 2 \"folder\" \"b.cu\", 1, 2\n";

static void expect_place(int line, const char *folder, const char *file, unsigned at,
                         unsigned column)
{
    struct ptx_module *module = parse_text(text);
    struct ptx_place place;
    bool has_place = ptx_find_place(module, line, &place);
    cr_expect_eq(has_place, file != NULL, "line %d", line);
    if (has_place && file) {
        cr_expect(pxr_str_is(place.folder, folder), "line %d", line);
        cr_expect(pxr_str_is(place.file, file), "line %d", line);
        cr_expect(place.line == at && place.column == column, "line %d: %u:%u", line, place.line,
                  place.column);
    }
    ptx_module_destroy(module);
}

Test(place, is_that_of_the_last_loc_before)
{
    expect_place(9, "folder", "b.cu", 30, 7);
    expect_place(10, "folder", "b.cu", 30, 7);
}

Test(place, is_the_innermost_of_inlined_code)
{
    expect_place(12, "", "a.h", 12, 0);
}

Test(place, there_may_be_none)
{
    expect_place(0, "", NULL, 0, 0);
    expect_place(7, "", NULL, 0, 0);  /* before the first .loc */
    expect_place(14, "", NULL, 0, 0); /* line 0 */
    expect_place(16, "", NULL, 0, 0); /* a file without a name */
    expect_place(21, "", NULL, 0, 0); /* another function's .loc */
    expect_place(1000000, "", NULL, 0, 0);
}
