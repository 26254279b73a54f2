/* SPDX-License-Identifier: Apache-2.0 */
#include "parse_helper.h"
#include "print_check.h"
#include "ptx/parse_budget.h"

static struct ptx_module *parse_features(void)
{
    size_t len;
    char *text = read_file(PARSE_CASES "/features.ptx", &len);
    struct ptx_module *module = parse_text(text);

    free(text);
    return module;
}

Test(parse, module_directives_are_read)
{
    struct ptx_module *module =
        parse_text(".version 7.8\n.target sm_90a, debug\n.address_size 64\n");

    cr_assert_eq(module->version, 78);
    cr_assert_eq(module->target, 90);
    cr_assert(module->is_debug);
    cr_assert_eq(module->address_bits, 64);
    ptx_module_destroy(module);
    module = parse_text(".version 6.0\n.target sm_70\n");
    cr_assert_eq(module->address_bits, 32);
    cr_assert_not(module->is_debug);
    ptx_module_destroy(module);
}

Test(parse, target_options_are_read)
{
    struct pxr_error err;
    struct ptx_module *module =
        parse_text(".version 8.6\n.target sm_100f, texmode_independent, map_f64_to_f32\n");

    cr_assert_eq(module->target, 100);
    cr_assert_eq(module->target_suffix, 'f');
    cr_assert_eq(module->texmode, PTX_TEXMODE_INDEPENDENT);
    cr_assert(module->maps_f64_to_f32);
    ptx_module_destroy(module);
    cr_assert_not_null(strstr(parse_error(".version 8.6\n.target sm_75x\n", &err), "'sm_75x' is"));
    cr_assert_not_null(strstr(parse_error(HEADER ".version 8.6\n", &err), "a second .version"));
}

Test(parse, cluster_and_abi_directives_are_kept)
{
    struct ptx_module *module = parse_text(
        HEADER ".entry k() .reqnctapercluster 4, 2 .maxclusterrank 8 .blocksareclusters { ret; }\n"
               ".func f() .abi_preserve 3 .abi_preserve_control 2 { ret; }");
    const struct ptx_func *kernel = ptx_find_entry(module, "k");
    const struct ptx_func *func = ptx_find_func(module, "f");

    cr_assert(kernel->needs_cluster && kernel->has_block_clusters);
    cr_assert_not(kernel->is_explicit_cluster);
    cr_assert_eq(kernel->cluster_blocks[0], 4);
    cr_assert_eq(kernel->cluster_blocks[1], 2);
    cr_assert_eq(kernel->cluster_blocks[2], 1);
    cr_assert_eq(kernel->max_cluster_blocks, 8);
    cr_assert(func->has_abi_preserve && func->has_abi_preserve_control);
    cr_assert_eq(func->abi_preserve, 3);
    cr_assert_eq(func->abi_preserve_control, 2);
    ptx_module_destroy(module);
}

Test(parse, trailing_nuls_are_not_text)
{
    static const char text[] = HEADER "\0\0\0";
    struct ptx_module *module;
    struct pxr_error err;
    enum pxr_status status =
        ptx_parse((struct pxr_str){text, sizeof(text)}, "test.ptx", &module, &err);

    cr_assert_eq(status, PXR_OK, "%s", err.message);
    cr_assert_eq(module->text.len, strlen(text));
    ptx_module_destroy(module);
}

Test(parse, every_form_of_the_language_is_taken)
{
    struct ptx_module *module = parse_features();

    cr_assert_not_null(ptx_find_entry(module, "kernel"));
    cr_assert_null(ptx_find_entry(module, "twice"));
    cr_assert_not_null(ptx_find_func(module, "twice"));
    cr_assert_not_null(ptx_find_var(module, "words"));
    cr_assert_null(ptx_find_var(module, "__local_depot0"));
    cr_assert_null(ptx_find_func(module, "nobody"));
    ptx_module_destroy(module);
}

Test(parse, tuning_directives_are_kept)
{
    struct ptx_module *module = parse_features();
    const struct ptx_func *tuned = ptx_find_entry(module, "tuned");
    const struct ptx_func *fixed = ptx_find_entry(module, "fixed_shape");

    cr_assert_eq(tuned->max_threads[0], 256);
    cr_assert_eq(tuned->max_threads[1], 2);
    cr_assert_eq(tuned->max_threads[2], 1);
    cr_assert_eq(tuned->min_blocks_per_sm, 2);
    cr_assert_eq(tuned->max_registers, 64);
    cr_assert_eq(tuned->required_threads[0], 0);
    cr_assert_eq(fixed->required_threads[0], 64);
    cr_assert(ptx_find_func(module, "__assertfail")->is_noreturn);
    cr_assert_not(ptx_find_func(module, "vprintf")->is_noreturn);
    ptx_module_destroy(module);
}

Test(parse, entry_parameters_are_placed_at_their_alignment)
{
    struct ptx_module *module =
        parse_text(HEADER ".entry k(.param .u8 a, .param .u64 b, .param .align 4 .b8 c[5],\n"
                          ".param .u16 d, .param .align 16 .b8 e[16]) { ret; }");
    const struct ptx_func *kernel = ptx_find_entry(module, "k");
    const uint32_t offsets[] = {0, 8, 16, 22, 32};

    cr_assert_eq(kernel->param_count, 5);
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(kernel->params[i]->param_offset_bytes, offsets[i]);
        cr_assert(kernel->params[i]->is_input_param);
        cr_assert_eq(kernel->params[i]->space, PTX_SPACE_PARAM);
    }
    cr_assert_eq(kernel->param_bytes, 48);
    ptx_module_destroy(module);
}

Test(parse, a_declaration_and_its_definition_are_one_function)
{
    struct ptx_module *module = parse_features();
    const struct ptx_func *twice = ptx_find_func(module, "twice");
    const struct ptx_func *twin = ptx_find_func(module, "twin");

    cr_assert(twice->has_body);
    cr_assert_eq(twice->ret_count, 1);
    cr_assert_not(twice->rets[0]->is_input_param);
    cr_assert_eq(module->funcs[twice->index], twice);
    cr_assert_eq(ptx_find_func(module, "nothing")->linkage, PTX_LINKAGE_WEAK);
    cr_assert(twin->has_body, "an alias has the body of its target");
    cr_assert_eq(twin->stmts, twice->stmts);
    cr_assert_not(ptx_find_func(module, "vprintf")->has_body);
    ptx_module_destroy(module);
}

Test(parse, functions_whose_address_is_taken_have_handles)
{
    struct ptx_module *module = parse_features();

    cr_assert_eq(ptx_func_handle(module, ptx_find_func(module, "twice")), PTX_FUNC_HANDLE_BASE);
    cr_assert_eq(ptx_func_handle(module, ptx_find_func(module, "nothing")), -1);
    ptx_module_destroy(module);
}

Test(parse, debug_sections_are_skipped)
{
    ptx_module_destroy(parse_text(HEADER ".file 1 \"a.cu\", 1600000000, 42\n"
                                         ".section .debug_abbrev\n{\n.b8 1\n$L__x:\n.b32 a+3\n}\n"
                                         "@@DWARF .section .debug_line\n"));
}

Test(parse, the_text_is_copied)
{
    char text[] = HEADER ".entry k() { exit; }";
    struct ptx_module *module = parse_text(text);

    memset(text, 'x', sizeof(text) - 1);
    cr_assert(pxr_str_is(inst_at(module, 0)->text, "exit"));
    cr_assert_str_eq(ptx_find_entry(module, "k")->name, "k");
    ptx_module_destroy(module);
}

/* ---- errors ---- */

Test(parse, errors_show_the_line_with_a_caret)
{
    struct pxr_error err;
    const char *message =
        parse_error(HEADER ".entry k()\n{\n\t.reg .b32 %r<4>;\n\tfrob.b32 %r1, %r2;\n}\n", &err);

    cr_assert_eq(err.line, 7);
    cr_assert_eq(err.column, 2);
    cr_assert_str_eq(message, "test.ptx:7:2: error: 'frob' is not a PTX instruction\n"
                              "   frob.b32 %r1, %r2;\n"
                              "   ^");
}

Test(parse, errors_name_what_is_wrong)
{
    struct pxr_error err;

    cr_assert_not_null(strstr(parse_error("", &err), "expected '.version', found the end"));
    cr_assert_not_null(strstr(parse_error(".version 8.0\n", &err), "'.target'"));
    cr_assert_not_null(strstr(parse_error(".version eight\n", &err), "a version number"));
    cr_assert_not_null(strstr(parse_error(HEADER "entry k() {}", &err), "found 'entry'"));
    cr_assert_not_null(strstr(parse_error(HEADER ".entry k() {", &err), "the end of the text"));
    cr_assert_not_null(strstr(parse_error(HEADER ".entry k() {} .entry k() {}", &err), "a body"));
    cr_assert_not_null(strstr(parse_error(HEADER ".global .u33 x;", &err), "unknown type"));
    cr_assert_not_null(strstr(parse_error(HEADER ".global .u32 x; .global .u32 x;", &err),
                              "'x' is already declared"));
    cr_assert_not_null(strstr(parse_error(HEADER ".reg .u32 x;", &err), "a function around"));
    cr_assert_not_null(strstr(parse_error(HEADER ".func f(.param .b32 a);\n"
                                                 ".func f(.param .b64 a) { ret; }",
                                          &err),
                              "declared differently"));
}

Test(parse, long_lines_are_cut_around_the_error)
{
    char text[4096] = HEADER ".entry k() { ";
    struct pxr_error err;
    const char *message;

    for (int i = 0; i < 300; i++)
        strcat(text, "exit; ");
    strcat(text, "wrong; }");
    message = parse_error(text, &err);
    cr_assert_not_null(strstr(message, "wrong; }"));
    cr_assert_lt(strlen(message), 500);
}

Test(parse, no_error_struct_is_needed)
{
    struct ptx_module *module;

    cr_assert_eq(ptx_parse(pxr_str_from("nonsense"), "test.ptx", &module, NULL), PXR_BAD_PTX);
    cr_assert_null(module);
}

Test(parse, nesting_is_limited)
{
    char text[20000] = HEADER ".global .u32 x = ";
    struct pxr_error err;

    for (int i = 0; i < 5000; i++)
        strcat(text, "(");
    cr_assert_not_null(strstr(parse_error(text, &err), "nested too deeply"));
    strcpy(text, HEADER ".entry k() ");
    for (int i = 0; i < 5000; i++)
        strcat(text, "{");
    cr_assert_not_null(strstr(parse_error(text, &err), "nested too deeply"));
    strcpy(text, HEADER ".entry k() { mov.b32 ");
    for (int i = 0; i < 5000; i++)
        strcat(text, "[");
    cr_assert_not_null(strstr(parse_error(text, &err), "nested too deeply"));
}

Test(parse, a_huge_register_range_costs_nothing)
{
    struct ptx_module *module = parse_text(
        HEADER ".entry k() { .reg .b32 %r<4000000000>; mov.b32 %r3999999999, %r0; ret; }");

    cr_assert_eq(ptx_find_entry(module, "k")->var_count, 2);
    cr_assert_lt(module->arena.total_bytes, (size_t)1 << 20);
    ptx_module_destroy(module);
}

/* ---- damaged text ---- */

/* A module or an error with a message; a module is printed as it is. */
static void parse_any(const char *bytes, size_t len)
{
    /* exactly len bytes, so that reading on is caught */
    char *copy = malloc(len ? len : 1);
    struct pxr_error err = {0};
    enum print_check result;

    memcpy(copy, bytes, len);
    result = print_check((struct pxr_str){copy, len}, "test.ptx", &err);
    if (result == PRINT_CHECK_NO_PTX)
        cr_assert(err.status == PXR_BAD_PTX && err.message[0] != '\0');
    else
        cr_assert_eq(result, PRINT_CHECK_OK, "%s", err.message);
    free(copy);
}

/* On the module level, in a body, and with comments in between. */
Test(parse, empty_statements_cost_no_memory)
{
    static const char head[] = HEADER ".entry k()\n{\nret;";
    const size_t count = 4 << 20;
    size_t len = sizeof(head) - 1;
    char *text = malloc(len + count * 2 + 2);
    struct ptx_module *module;

    memcpy(text, head, len);
    memset(text + len, ';', count);
    memcpy(text + len + count / 2, "/**/\n", 5);
    text[len + count] = '}';
    memset(text + len + count + 1, ';', count);
    text[len + count * 2 + 1] = '\0';
    module = parse_text(text);
    cr_expect_eq(ptx_find_entry(module, "k")->stmt_count, 2);
    cr_expect_eq(module->item_count, 5);
    cr_expect_lt(module->arena.total_bytes, len + 2 * count + (5 << 20));
    ptx_module_destroy(module);
    free(text);
}

/* What a text costs is bounded by what the machine can spend. */
Test(parse, memory_is_limited_by_the_budget)
{
    static const char head[] = HEADER ".entry k()\n{\n";
    const size_t count = 1 << 20;
    size_t len = sizeof(head) - 1;
    char *text = malloc(len + count * 2 + 3);
    struct ptx_module *module = NULL;
    struct pxr_error err = {0};

    memcpy(text, head, len);
    for (size_t i = 0; i < count; i++)
        memcpy(text + len + 2 * i, "{}", 2);
    memcpy(text + len + 2 * count, "}\n", 3);
    ptx_budget_set_memory(1);
    cr_expect_eq(ptx_parse(pxr_str_from(text), "t", &module, &err), PXR_OUT_OF_MEMORY);
    cr_expect_not_null(strstr(err.message, "memory"), "%s", err.message);
    cr_expect_null(module);
    ptx_budget_set_memory((size_t)16 << 30);
    cr_expect_eq(ptx_parse(pxr_str_from(text), "t", &module, &err), PXR_OK, "%s", err.message);
    ptx_module_destroy(module);
    free(text);
}

Test(parse, text_cut_at_any_byte_is_an_error_and_not_a_crash)
{
    size_t len;
    char *text = read_file(PARSE_CASES "/features.ptx", &len);

    for (size_t i = 0; i <= len; i++)
        parse_any(text, i);
    free(text);
}

static void parse_damaged(const char *path)
{
    static const char replacements[] = "{}[](),;.%:@!|+-0189abz<>\"/*\n\0\xff";
    size_t len;
    char *text = read_file(path, &len);
    char *copy = malloc(len);
    unsigned seed = 1;

    for (int round = 0; round < 2000; round++) {
        memcpy(copy, text, len);
        for (int i = 0; i < 1 + round % 8; i++) {
            seed = seed * 1103515245 + 12345;
            copy[(seed >> 8) % len] = replacements[(seed >> 3) % sizeof(replacements)];
        }
        parse_any(copy, len);
    }
    free(copy);
    free(text);
}

Test(parse, damaged_text_is_an_error_and_not_a_crash)
{
    parse_damaged(PARSE_CASES "/features.ptx");
    parse_damaged(PRINT_CASES "/forms.ptx");
}
