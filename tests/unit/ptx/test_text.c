/* SPDX-License-Identifier: Apache-2.0
 *
 * The glance at PTX text: recognition, header and function names.
 */
#include <criterion/criterion.h>

#include "ptx/text.h"

static const char TEXT[] = "\n\n// a comment with .entry in it\n/* .version 1.0 */\n"
                           ".version 8.5\n.target sm_90a, debug\n.address_size 64\n"
                           ".extern .func (.param .b32 r) callee (.param .b64 p);\n"
                           ".global .b8 text[3] = {1, 2, 3};\n"
                           ".visible .entry kernel(.param .u64 p)\n"
                           ".maxntid 32, 1, 1\n{\n{ .reg .b32 %r<2>; }\nret;\n}\n"
                           ".weak .func .noreturn stop()\n{\ntrap;\n}\n"
                           ".entry _Z1kv(){ret;}";

Test(text, header_is_read_past_comments)
{
    struct ptx_text_header header = ptx_text_read_header(pxr_str_from(TEXT));
    cr_expect(header.is_ptx);
    cr_expect_eq(header.version_major, 8);
    cr_expect_eq(header.version_minor, 5);
    cr_expect_eq(header.target, 90);
    cr_expect_eq(header.target_suffix, 'a');
}

Test(text, other_text_is_not_ptx)
{
    cr_expect_not(ptx_text_read_header(pxr_str_from("")).is_ptx);
    cr_expect_not(ptx_text_read_header(pxr_str_from("// .version 8.5")).is_ptx);
    cr_expect_not(ptx_text_read_header(pxr_str_from("/* never closed")).is_ptx);
    cr_expect_not(ptx_text_read_header(pxr_str_from("__global__ void k();")).is_ptx);
}

Test(text, functions_are_listed_with_kind_and_body)
{
    static const struct {
        const char *name;
        bool is_entry, has_body;
    } EXPECTED[] = {{"callee", false, false},
                    {"kernel", true, true},
                    {"stop", false, true},
                    {"_Z1kv", true, true}};
    struct ptx_text_scan scan = {.text = pxr_str_from(TEXT)};
    struct ptx_text_function function;
    for (size_t i = 0; i < sizeof EXPECTED / sizeof *EXPECTED; i++) {
        cr_assert(ptx_text_next_function(&scan, &function));
        cr_expect(pxr_str_is(function.name, EXPECTED[i].name), "%.*s", PXR_STR_ARG(function.name));
        cr_expect_eq(function.is_entry, EXPECTED[i].is_entry);
        cr_expect_eq(function.has_body, EXPECTED[i].has_body);
    }
    cr_expect_not(ptx_text_next_function(&scan, &function));
}

Test(text, truncated_text_ends_the_list)
{
    for (size_t len = 0; len < sizeof TEXT; len++) {
        struct ptx_text_scan scan = {.text = {TEXT, len}};
        struct ptx_text_function function;
        int count = 0;
        while (ptx_text_next_function(&scan, &function))
            cr_assert_lt(++count, 5);
    }
}

Test(text, device_runtime_is_known_by_its_definitions)
{
    cr_expect(ptx_text_is_device_runtime(pxr_str_from(
        ".version 8.5\n.visible .func (.param .b64 r) cudaGetParameterBufferV2(.param .b64 f)\n"
        "{\nret;\n}\n.visible .func (.param .b32 r) __cudaCDP2LaunchDeviceV2()\n{\nret;\n}\n")));
}

Test(text, program_that_uses_the_device_runtime_is_not_it)
{
    cr_expect_not(ptx_text_is_device_runtime(pxr_str_from(
        ".version 8.5\n.extern .func (.param .b64 r) cudaGetParameterBufferV2(.param .b64 f);\n"
        ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2();\n"
        ".entry k()\n{\ncall.uni (r), cudaGetParameterBufferV2, (f);\n"
        "call.uni (r), __cudaCDP2LaunchDeviceV2, ();\nret;\n}\n")));
}
