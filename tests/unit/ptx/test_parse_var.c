/* SPDX-License-Identifier: Apache-2.0 */
#include "parse_helper.h"

static struct ptx_module *module;
static const struct ptx_var *var;

static const struct ptx_var *declare(const char *text)
{
    char whole[1024];

    snprintf(whole, sizeof(whole), HEADER "%s", text);
    module = parse_text(whole);
    var = module->vars[module->var_count - 1];
    return var;
}

static void expect_error(const char *text, const char *part)
{
    char whole[1024];
    struct pxr_error err;
    const char *message;

    snprintf(whole, sizeof(whole), HEADER "%s", text);
    message = parse_error(whole, &err);
    cr_assert_not_null(strstr(message, part), "%s", message);
}

static void expect_words(const uint32_t *words, size_t count)
{
    cr_assert_eq(var->size_bytes, 4 * count);
    cr_assert_not_null(var->init_bytes);
    cr_assert_arr_eq(var->init_bytes, words, 4 * count);
    ptx_module_destroy(module);
}

Test(parse_var, sizes_and_alignments)
{
    declare(".shared .align 8 .b8 tile[4][32];");
    cr_assert_eq(var->space, PTX_SPACE_SHARED);
    cr_assert_eq(var->elem_count, 128);
    cr_assert_eq(var->size_bytes, 128);
    cr_assert_eq(var->align_bytes, 8);
    cr_assert(var->is_array);
    cr_assert(var->is_module_scope);
    ptx_module_destroy(module);
    declare(".global .v4 .f32 quad;");
    cr_assert_eq(var->vector_len, 4);
    cr_assert_eq(var->size_bytes, 16);
    cr_assert_eq(var->align_bytes, 16);
    cr_assert_null(var->init_bytes);
    ptx_module_destroy(module);
}

Test(parse_var, linkage_and_attributes)
{
    declare(".extern .shared .align 16 .b8 dynamic[];");
    cr_assert(var->is_unsized);
    cr_assert_eq(var->size_bytes, 0);
    cr_assert_eq(var->linkage, PTX_LINKAGE_EXTERN);
    ptx_module_destroy(module);
    cr_assert(declare(".global .attribute(.managed) .u32 m;")->is_managed);
    ptx_module_destroy(module);
    cr_assert_eq(declare(".common .global .u32 c;")->linkage, PTX_LINKAGE_COMMON);
    ptx_module_destroy(module);
}

Test(parse_var, extern_then_definition_is_one_variable)
{
    declare(".extern .global .u32 x; .global .u64 y = x; .visible .global .u32 x = 5;");
    cr_assert_eq(module->var_count, 2);
    cr_assert_eq(module->vars[0]->linkage, PTX_LINKAGE_VISIBLE);
    cr_assert_eq(module->vars[0]->init_bytes[0], 5);
    cr_assert_eq(var->relocs[0].var, module->vars[0]);
    ptx_module_destroy(module);
}

Test(parse_var, integers_of_every_base)
{
    declare(".global .b32 w[] = {1, 0x10, 010, 0b101, 7U, -1, 4294967295};");
    cr_assert_not(var->is_unsized);
    cr_assert_eq(var->elem_count, 7);
    expect_words((uint32_t[]){1, 16, 8, 5, 7, UINT32_MAX, UINT32_MAX}, 7);
}

Test(parse_var, inner_lists_are_filled_with_zeros)
{
    declare(".global .u32 g[3][2] = {{1}, {2, 3}};");
    expect_words((uint32_t[]){1, 0, 2, 3, 0, 0}, 6);
    declare(".global .u32 g[2][2] = {1, 2, 3};");
    expect_words((uint32_t[]){1, 2, 3, 0}, 4);
    declare(".global .v2 .u32 g[2] = {{1, 2}, {3, 4}};");
    expect_words((uint32_t[]){1, 2, 3, 4}, 4);
    declare(".global .u32 g[][2] = {{1}, {2}};");
    expect_words((uint32_t[]){1, 0, 2, 0}, 4);
}

Test(parse_var, constant_expressions)
{
    declare(".global .u32 x = (3 + 4 * 2) << 1 | 1;");
    expect_words((uint32_t[]){23}, 1);
    declare(".global .s32 x[4] = {1 > 2 ? 10 : WARP_SZ, -7 / 2, -7 % 2, ~0 == -1 && !0};");
    expect_words((uint32_t[]){32, (uint32_t)-3, 1, 1}, 4);
    declare(".global .u32 x[3] = {-1 >> 1, (.u64)-1 >> 63, 0xffffffffffffffffU / 2 > 1};");
    expect_words((uint32_t[]){UINT32_MAX, 1, 1}, 3);
    declare(".global .u32 x[5] = {-7 % 3, ~0 >> 63, 1 << 65, (0 ? 1U : -1) >> 63, -1 >> 64};");
    expect_words((uint32_t[]){0, 1, 2, 1, UINT32_MAX}, 5);
    expect_error(".global .u32 x = 1 / 0;", "cannot be evaluated");
    expect_error(".global .u32 x = 1.5 & 1;", "cannot be evaluated");
}

Test(parse_var, floating_point_values)
{
    const float singles[] = {1.0F, -2.5F, 1.0F, 1e-3F};
    const double doubles[] = {3.141592653589793, -0.5};

    declare(".const .f32 f[4] = {1.0, -2.5, 0f3F800000, 1e-3};");
    cr_assert_arr_eq(var->init_bytes, singles, sizeof(singles));
    ptx_module_destroy(module);
    declare(".const .f64 f[2] = {0d400921FB54442D18, -0.5};");
    cr_assert_arr_eq(var->init_bytes, doubles, sizeof(doubles));
    ptx_module_destroy(module);
    declare(".const .f32 nan = 0f7FC01234;");
    expect_words((uint32_t[]){0x7fc01234}, 1);
    expect_error(".global .f32 f = 0f12;", "not a number");
}

Test(parse_var, addresses_become_relocations)
{
    declare(".func f() { ret; } .global .u32 w[4]; .global .u64 a[4] = {w+8, f, generic(w)-4, 7};");
    cr_assert_eq(var->reloc_count, 3);
    cr_assert_eq(var->relocs[0].var, module->vars[0]);
    cr_assert_eq(var->relocs[0].addend, 8);
    cr_assert_eq(var->relocs[0].size_bytes, 8);
    cr_assert_not(var->relocs[0].is_generic);
    cr_assert_eq(var->relocs[1].func, module->funcs[0]);
    cr_assert_eq(var->relocs[1].offset_bytes, 8);
    cr_assert_eq(ptx_func_handle(module, module->funcs[0]), PTX_FUNC_HANDLE_BASE);
    cr_assert(var->relocs[2].is_generic);
    cr_assert_eq(var->relocs[2].addend, -4);
    cr_assert_eq(var->init_bytes[24], 7);
    ptx_module_destroy(module);
    expect_error(".global .u64 a = nowhere;", "'nowhere' is not a variable");
}

Test(parse_var, masks_pick_one_byte_of_an_address)
{
    declare(".global .u32 w; .global .u8 b[2] = {0xFF(w), 0xFF0000(generic(w)+4)};");
    cr_assert_eq(var->reloc_count, 2);
    cr_assert_eq(var->relocs[0].shift_bits, 0);
    cr_assert_eq(var->relocs[1].shift_bits, 16);
    cr_assert_eq(var->relocs[1].size_bytes, 1);
    cr_assert_eq(var->relocs[1].offset_bytes, 1);
    cr_assert(var->relocs[1].is_generic);
    ptx_module_destroy(module);
    expect_error(".global .u32 w; .global .u8 b = 0xF(w);", "a mask must be");
}

Test(parse_var, only_bytes_that_matter_are_stored)
{
    declare(".global .b8 zeros[1073741824] = {0, 0, 0};");
    cr_assert_eq(var->size_bytes, 1073741824);
    cr_assert_null(var->init_bytes);
    ptx_module_destroy(module);
    expect_error(".global .b8 ones[1073741824] = {1};", "too large");
    expect_error(".global .b8 b[99999999999999];", "out of range");
    expect_error(".global .b8 b[999999999][999999999];", "too large");
}

Test(parse_var, wrong_initialisers_are_errors)
{
    expect_error(".global .u32 x[2] = {1, 2, 3};", "too many initial values");
    expect_error(".global .u32 x = {{{1}}};", "nested more deeply");
    expect_error(".shared .u32 x = 1;", "only .global and .const");
    expect_error(".global .u32 x[];", "needs a size");
    expect_error(".global .align 3 .u32 x;", "power of two");
    expect_error(".global .u8 x[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1];",
                 "too many dimensions");
}

Test(parse_var, registers_of_a_range_are_made_when_named)
{
    const struct ptx_func *kernel;

    module = parse_text(HEADER ".entry k() { .reg .b32 %r<5>; .reg .b32 %r1<20>;\n"
                               "mov.b32 %r4, %r119; mov.b32 %r4, %r10; ret; }");
    kernel = ptx_find_entry(module, "k");
    cr_assert_eq(kernel->var_count, 3);
    cr_assert_str_eq(kernel->vars[0]->name, "%r4");
    cr_assert_str_eq(kernel->vars[1]->name, "%r119");
    cr_assert_eq(kernel->vars[1]->index, 1);
    cr_assert_eq(kernel->vars[0]->space, PTX_SPACE_REG);
    ptx_module_destroy(module);
    expect_error(".entry k() { .reg .b32 %r<5>; mov.b32 %r4, %r5; }", "'%r5' is not declared");
}

Test(parse_var, the_number_of_a_register_may_begin_with_zeros)
{
    const struct ptx_func *kernel;

    module = parse_text(HEADER ".entry k() { .reg .b32 %r<40>; .reg .pred p<3>;\n"
                               "mov.b32 %r04, %r4; @p002 mov.b32 %r000000000000000000012, %r00;\n"
                               "mov.b32 %r0, %r12; ret; }");
    kernel = ptx_find_entry(module, "k");
    cr_assert_eq(kernel->var_count, 4);
    cr_assert_str_eq(kernel->vars[0]->name, "%r4");
    cr_assert_str_eq(kernel->vars[1]->name, "p2");
    cr_assert_str_eq(kernel->vars[2]->name, "%r12");
    cr_assert_str_eq(kernel->vars[3]->name, "%r0");
    ptx_module_destroy(module);
    expect_error(".entry k() { .reg .b32 %r<5>; mov.b32 %r4, %r05; }", "'%r05' is not declared");
    expect_error(".entry k() { .reg .b32 %r<5>; mov.b32 %r4, %r0x1; }", "'%r0x1' is not declared");
}

/* Of two ranges the one whose number is all of the digits. */
Test(parse_var, all_digits_are_the_number_where_they_can_be)
{
    const struct ptx_func *kernel;

    module = parse_text(HEADER ".entry k() { .reg .b32 %r<13>; .reg .b64 %r1<10>;\n"
                               "mov.b32 %r12, %r012; mov.b64 %r15, %r15; ret; }");
    kernel = ptx_find_entry(module, "k");
    cr_assert_eq(kernel->var_count, 2);
    cr_assert_eq(kernel->vars[0]->type, PTX_TYPE_B32);
    cr_assert_eq(kernel->vars[1]->type, PTX_TYPE_B64);
    ptx_module_destroy(module);
}

Test(parse_var, arrays_need_a_size_or_initial_values)
{
    static const char *const wrong[] = {
        ".global .b8 a[];",
        ".const .b8 a[];",
        ".shared .b8 a[];",
        ".global .b8 a[0];",
        ".shared .b8 a[4][0];",
        ".entry k() { .shared .b8 a[]; ret; }",
        ".entry k() { .local .b8 a[]; ret; }",
        ".entry k() { .param .b8 a[]; ret; }",
        ".func f() { .shared .b8 a[]; ret; }",
        ".entry k(.param .b8 a[]) { ret; }",
        ".entry k(.param .b8 a[0]) { ret; }",
        ".func (.param .b8 a[]) f() { ret; }",
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        expect_error(wrong[i], "array 'a' needs a size");
    module =
        parse_text(HEADER ".extern .shared .align 16 .b8 a[];\n.global .b8 b[] = {1, 2};\n"
                          ".extern .global .b8 c[];\n.func f(.param .align 8 .b8 d[]) { ret; }\n"
                          ".func g(.param .b8 e[0]) { ret; }");
    ptx_module_destroy(module);
}

Test(parse_var, vectors_have_at_most_128_bits_and_are_no_parameters)
{
    expect_error(".entry k(.param .v2 .u32 a) { ret; }", "no vectors in .param space");
    expect_error(".func (.param .v2 .u32 a) f() { ret; }", "no vectors in .param space");
    expect_error(".func f() { .param .v4 .b8 a; ret; }", "no vectors in .param space");
    expect_error(".global .v4 .u64 a;", "more than 128 bits");
    expect_error(".entry k() { .reg .v4 .f64 a; ret; }", "more than 128 bits");
    expect_error(".entry k() { .reg .v2 .pred a; ret; }", "no vectors of predicates");
    module = parse_text(HEADER ".global .v2 .f64 a;\n.func f(.reg .v4 .u32 b) { ret; }");
    ptx_module_destroy(module);
}

Test(parse_var, types_of_instructions_only_are_not_declared)
{
    struct pxr_error err;

    cr_assert_not_null(strstr(parse_error(HEADER ".global .bf16 x;", &err), "declared .b16"));
    cr_assert_not_null(strstr(parse_error(HEADER ".global .u4 x;", &err), "declared .b8"));
    cr_assert_not_null(strstr(parse_error(HEADER ".entry k(.param .tf32 x) {}", &err), ".b32"));
    ptx_module_destroy(parse_text(HEADER ".global .f16 h; .global .f16x2 p; .global .b128 q;"));
}

Test(parse_var, initial_values_have_the_kind_of_their_variable)
{
    struct pxr_error err;

    cr_assert_not_null(strstr(parse_error(HEADER ".global .u32 x = 1.5;", &err), "cannot have"));
    cr_assert_not_null(strstr(parse_error(HEADER ".global .f32 x = 1;", &err), "cannot have"));
    cr_assert_not_null(strstr(parse_error(HEADER ".shared .u32 s;\n.global .u64 x = s;", &err),
                              "has no address before"));
    ptx_module_destroy(parse_text(HEADER ".global .b32 x = 0f3f800000;"));
}

Test(parse_var, a_masked_address_is_one_byte)
{
    module = parse_text(HEADER ".global .u32 a; .global .u8 b[2] = {0xFF00(a)};");
    var = ptx_find_var(module, "b");

    cr_assert_eq(var->reloc_count, 1);
    cr_assert_eq(var->relocs[0].size_bytes, 1);
    cr_assert_eq(var->relocs[0].shift_bits, 8);
    ptx_module_destroy(module);
}

Test(parse_var, pointers_say_what_they_point_to)
{
    const struct ptx_func *kernel;

    module = parse_text(
        HEADER
        ".entry k(.param .u64 .ptr .shared .align 16 p, .param .u64 .ptr q, .param .u64 n) {}");
    kernel = ptx_find_entry(module, "k");

    cr_assert(kernel->params[0]->is_pointer);
    cr_assert_eq(kernel->params[0]->pointee_space, PTX_SPACE_SHARED);
    cr_assert_eq(kernel->params[0]->pointee_align_bytes, 16);
    cr_assert(kernel->params[1]->is_pointer);
    cr_assert_eq(kernel->params[1]->pointee_space, PTX_SPACE_NONE);
    cr_assert_not(kernel->params[2]->is_pointer);
    ptx_module_destroy(module);
}

Test(parse_var, a_qualifier_is_given_once)
{
    struct pxr_error err;

    cr_assert_not_null(
        strstr(parse_error(HEADER ".global .u32 .b32 x;", &err), "'.b32' is one too many"));
    cr_assert_not_null(
        strstr(parse_error(HEADER ".global .shared .b32 x;", &err), "'.shared' is one too many"));
}

Test(parse_var, numbered_names_in_memory_are_variables_of_their_own)
{
    module =
        parse_text(HEADER ".visible .global .align 8 .u32 g<3>, h;\n.entry k() { .shared .u16 s<2>;"
                          " .reg .b32 %r; ld.global.u32 %r, [g2]; ret; }");
    cr_assert_eq(module->var_count, 4);
    cr_assert_str_eq(module->vars[2]->name, "g2");
    cr_assert_eq(module->vars[2]->align_bytes, 8);
    cr_assert_eq(module->vars[0]->linkage, PTX_LINKAGE_VISIBLE);
    cr_assert_eq(ptx_find_entry(module, "k")->var_count, 3);
    ptx_module_destroy(module);
    expect_error(".global .u32 g<5000>;", "more than 4096");
    expect_error(".global .u32 g<2> = 1;", "expected ';'");
    expect_error(".global .u32 g1, g<2>;", "'g1' is already declared");
}

Test(parse_var, a_mask_picks_a_byte_of_a_number)
{
    declare(".global .u8 b[4] = {0xFF(1000 + 546), 0xFF00(1000 + 546), 0xFF(-1), 7};");
    expect_words((uint32_t[]){0x07ff060a}, 1);
    expect_error(".global .u8 b = 0xF0(7);", "a mask must be 0xFF");
    expect_error(".global .u8 b = 0xFF(1.5);", "for whole numbers");
}
