/* SPDX-License-Identifier: Apache-2.0 */
#include "parse_helper.h"
#include "print_check.h"

static void expect_kept(const char *path)
{
    struct pxr_error why = {0};
    size_t len;
    char *text = read_file(path, &len);

    cr_assert_eq(print_check((struct pxr_str){text, len}, path, &why), PRINT_CHECK_OK, "%s",
                 why.message);
    free(text);
}

/* The text is printed in this style with this in it. */
static void expect_printed(const char *text, enum ptx_print_style style, const char *part)
{
    struct ptx_module *module = parse_text(text);
    size_t len;
    char *printed = print_module(module, style, &len);

    cr_assert_not_null(strstr(printed, part), "no '%s' in: %s", part, printed);
    cr_assert_eq(len, strlen(printed));
    free(printed);
    ptx_module_destroy(module);
}

Test(print, every_form_keeps_its_tokens)
{
    expect_kept(PRINT_CASES "/forms.ptx");
    expect_kept(PARSE_CASES "/features.ptx");
}

Test(print, text_of_compilers_keeps_its_tokens)
{
    expect_kept(PRINT_CASES "/clang_release.ptx");
    expect_kept(PRINT_CASES "/clang_debug.ptx");
    expect_kept(PRINT_CASES "/opencl.ptx");
    expect_kept(PRINT_CASES "/nvcc_release.ptx");
    expect_kept(PRINT_CASES "/nvcc_lines.ptx");
    expect_kept(PRINT_CASES "/nvcc_debug.ptx");
    expect_kept(PRINT_CASES "/nvrtc.ptx");
}

Test(print, statements_stand_in_lines_of_their_own)
{
    expect_printed(HEADER ".visible .entry k(.param .u64 a,.param .u32 b){.reg .pred p;.reg .b32 "
                          "%r<2>,x;@!p bra L;L:{add.u32 x,%r1,-1;}}",
                   PTX_PRINT_AS_WRITTEN,
                   ".visible .entry k(\n\t.param .u64 a,\n\t.param .u32 b\n)\n{\n\t.reg .pred p;\n"
                   "\t.reg .b32 %r<2>, x;\n\t@!p bra L;\nL:\n\t{\n\tadd.u32 x, %r1, -1;\n\t}\n}\n");
}

Test(print, normal_form_is_made_from_the_values)
{
    expect_printed(HEADER ".global .align 0x8 .b32 a[2][1+1] = {{0x10}, {017, -1}};",
                   PTX_PRINT_NORMAL, ".global .align 8 .b32 a[4] = {16, 0, 15, 4294967295};\n");
    expect_printed(HEADER ".align 4 .global .f32 f = 1.0;", PTX_PRINT_NORMAL,
                   ".global .f32 f = 0f3F800000;\n");
    expect_printed(HEADER ".global .b32 a;.global .u64 p[2] = {generic(a)-4};", PTX_PRINT_NORMAL,
                   ".u64 p[2] = {generic(a)-4};\n");
    expect_printed(HEADER ".global .b32 a;.global .u8 p[4] = {5, 0xFF00(a+1)};", PTX_PRINT_NORMAL,
                   ".u8 p[4] = {5, 0xff00(a+1)};\n");
    expect_printed(HEADER ".entry k() .maxntid 0x20 { ret; }", PTX_PRINT_NORMAL,
                   "k()\n.maxntid 32, 1, 1\n{");
    expect_printed(".version 8.0\n.target debug, sm_90a\n.address_size 64\n", PTX_PRINT_NORMAL,
                   ".target sm_90a, debug\n");
}

Test(print, normal_form_of_operands)
{
    char *text = kernel_text("mov.u32 %r1, (3 + 4) * 2; mov.f32 %f1, 0.5; mov.b32 %r1, 0f3f800000;"
                             "ld.shared.u32 %r1, [svar + 2 * 4]; mov.u64 %rd1, gvar[2];"
                             "mov.u32 %r1, %tid.r; mov.u32 %r1, %ntid.w;"
                             "add.u32 %r01, %r2 + 2 * 4, %r3+-0; st.u64 [%rd1], gvar + 0;");

    expect_printed(text, PTX_PRINT_NORMAL,
                   "\tmov.u32 %r1, 14;\n\tmov.f32 %f1, 0d3FE0000000000000;\n"
                   "\tmov.b32 %r1, 0f3F800000;\n"
                   "\tld.shared.u32 %r1, [svar+8];\n"
                   "\tmov.u64 %rd1, gvar+8;\n\tmov.u32 %r1, %tid.x;\n"
                   "\tmov.u32 %r1, 0;\n"
                   "\tadd.u32 %r1, %r2+8, %r3+0;\n\tst.u64 [%rd1], gvar+0;\n");
    free(text);
}

Test(print, each_declaration_of_a_name_is_printed_as_it_stands)
{
    static const char text[] = HEADER
        ".extern .global .u32 x;\n.global .u32 y = 1;\n.visible .global .align 8 .u32 x = 5;"
        "\n.func f(.param .b32 a);\n.func f(.param .b32 other) { ret; }\n.func f(.param .b32 "
        "third);\n.func g(.param .b32 a);\n.alias g, f;\n";
    struct pxr_error why = {0};

    cr_assert_eq(print_check(pxr_str_from(text), "text", &why), PRINT_CHECK_OK, "%s", why.message);
}

Test(print, the_list_of_items_follows_the_text)
{
    struct ptx_module *module =
        parse_text(HEADER ".file 1 \"a\"\n.global .u32 a, b;\n.func f();\n.func f() { ret; }\n");
    static const enum ptx_item_kind kinds[] = {
        PTX_ITEM_VERSION, PTX_ITEM_TARGET, PTX_ITEM_ADDRESS_SIZE, PTX_ITEM_DIRECTIVE,
        PTX_ITEM_VAR,     PTX_ITEM_VAR,    PTX_ITEM_FUNC,         PTX_ITEM_FUNC};

    cr_assert_eq(module->item_count, 8);
    for (int i = 0; i < 8; i++)
        cr_assert_eq(module->items[i].kind, kinds[i]);
    cr_assert_not(module->items[4].is_continued);
    cr_assert(module->items[5].is_continued);
    cr_assert_not(module->items[6].func->has_body);
    cr_assert_eq(module->items[7].func, ptx_find_func(module, "f"));
    ptx_module_destroy(module);
}

Test(print, a_linked_module_is_refused)
{
    struct ptx_module *part = parse_text(HEADER ".global .u32 a;\n");
    const struct ptx_module *parts[] = {part};
    struct ptx_module *linked;
    struct pxr_error err;

    cr_assert_eq(ptx_link(parts, 1, "both", &linked, &err), PXR_OK);
    cr_assert_eq(ptx_print(linked, PTX_PRINT_AS_WRITTEN, stdout, &err), PXR_INVALID_ARGUMENT);
    cr_assert_not_null(strstr(err.message, "'both' is linked"));
    ptx_module_destroy(linked);
    ptx_module_destroy(part);
}

Test(print, a_full_disk_is_told)
{
    struct ptx_module *module = parse_text(HEADER);
    FILE *full = fopen("/dev/full", "w");
    struct pxr_error err;

    if (full) {
        cr_assert_eq(ptx_print(module, PTX_PRINT_AS_WRITTEN, full, &err), PXR_IO);
        fclose(full);
    }
    ptx_module_destroy(module);
}
