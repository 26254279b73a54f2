/* SPDX-License-Identifier: Apache-2.0 */
#include "parse_helper.h"

/* The messages, without the excerpt of the first, must be these, one a line. */
static void expect_errors(const char *text, const char *want)
{
    struct pxr_error err;
    char got[PXR_ERROR_MESSAGE_BYTES] = "";
    char *rest = strdup(parse_error(text, &err));
    char *saved;

    for (char *line = strtok_r(rest, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved))
        if (strncmp(line, "test.ptx:", 9) == 0)
            strcat(strcat(got, line + 9), "\n");
    cr_assert_str_eq(got, want);
    free(rest);
}

static void expect_body_errors(const char *body, const char *want)
{
    char text[4096];

    snprintf(text, sizeof(text),
             HEADER ".entry k()\n{ .reg .b32 %%r<9>; .reg .b64 %%rd<9>;\n%s\n}\n", body);
    expect_errors(text, want);
}

Test(recover, all_errors_of_a_body_are_told_in_order)
{
    expect_body_errors("mov.u32 %r1, %x;\nfrob.u32 %r1;\nadd.u32 %r1, %r2, %r3;\nbra NOWHERE;\n"
                       "add.u64 %rd1, %rd2, %r3;",
                       "6:14: error: '%x' is not declared\n"
                       "7:1: error: 'frob' is not a PTX instruction\n"
                       "9:5: error: 'NOWHERE' is not declared\n"
                       "10:21: error: operand of 'add.u64' must be a register of 64 bits (.u64)\n");
}

Test(recover, the_first_error_has_position_and_excerpt)
{
    struct pxr_error err;
    const char *message = parse_error(HEADER ".bad;\n.worse;\n", &err);

    cr_assert_eq(err.line, 4);
    cr_assert_eq(err.column, 1);
    cr_assert_str_eq(message, "test.ptx:4:1: error: unknown type or qualifier '.bad'\n"
                              "  .bad;\n"
                              "  ^\n"
                              "test.ptx:5:1: error: unknown type or qualifier '.worse'");
}

Test(recover, a_name_is_missed_once)
{
    expect_body_errors("mov.u32 %r1, %x;\nmov.u32 %r2, %x;\nbra L;\nbra L;\n{ bra L; }",
                       "6:14: error: '%x' is not declared\n8:5: error: 'L' is not declared\n");
}

Test(recover, names_of_a_wrong_declaration_are_not_missed)
{
    expect_body_errors(".reg .b33 %x<5>, y;\nmov.u32 %x1, 5;\nmov.u32 y, %x4;\n@y mov.u32 %r1, 1;",
                       "6:6: error: unknown type or qualifier '.b33'\n");
    expect_errors(HEADER ".global .u33 a;\n.global .u64 b = a;\n.func (.param .b33 r) f() { .reg "
                         ".b32 %q; $ }\n.entry k() { .param .b32 x; call (x), f; ret; }\n",
                  "4:9: error: unknown type or qualifier '.u33'\n"
                  "6:15: error: unknown type or qualifier '.b33'\n");
}

Test(recover, labels_in_a_wrong_statement_are_not_missed)
{
    expect_body_errors("mov.u32 %r1, %r2 %r3\nL: bra L;\nbra L;\nbra M, 5;\nM: ret;",
                       "6:18: error: expected ';', found '%r3'\n"
                       "9:1: error: 'bra' cannot have 2 operands; it has 1\n");
}

Test(recover, a_missing_semicolon_costs_one_error)
{
    expect_body_errors(
        "mov.u32 %r1, %r2\nmov.u32 %r3, %x;\nret",
        "7:1: error: expected ';', found 'mov'\n"
        "7:14: error: '%x' is not declared\n9:1: error: expected an operand, found '}'\n");
}

Test(recover, an_open_vector_costs_one_error)
{
    expect_body_errors("mov.b64 %rd1, {%r1, %r2;\nmov.u32 %r1, %r2;\n{ mov.u32 %r1, %x; }",
                       "6:24: error: expected '}', found ';'\n"
                       "8:16: error: '%x' is not declared\n");
}

Test(recover, a_missing_brace_ends_the_function)
{
    expect_errors(HEADER ".entry k() {\nret;\n.visible .entry l() { frob; }\n",
                  "6:1: error: expected '}' at the end of the function, found '.visible'\n"
                  "6:23: error: 'frob' is not a PTX instruction\n");
    expect_errors(HEADER ".entry k() {\nret;\n", "6:1: error: expected a statement, found the end "
                                                 "of the text\n");
}

Test(recover, a_missing_declaration_of_registers_costs_one_error)
{
    expect_body_errors("mov.u32 %q1, %r1;\nmov.u32 %q2, %q3;\nmov.u32 %r9, 1;\nmov.u32 %r10, %r1;",
                       "6:9: error: '%q1' is not declared\n8:9: error: '%r9' is not declared\n"
                       "9:9: error: '%r10' is not declared\n");
}

Test(recover, the_rest_of_a_broken_head_costs_one_error)
{
    expect_errors(
        HEADER ".entry k() { ret; }\n.param .b32 x\n)\n{\nret;\n}\n.entry l() { frob; }\n",
        "5:13: error: expected a function around .reg and .param declarations, found 'x'\n"
        "10:14: error: 'frob' is not a PTX instruction\n");
}

Test(recover, a_brace_too_many_costs_one_error)
{
    expect_body_errors("bra L;\n}\nmov.u32 %r1, %r2;\nL:\nmov.u32 %r1, %r2;",
                       "7:1: error: a '}' too many: statements follow the function\n");
    expect_body_errors("mov.u32 }, %r1;\nmov.u32 %r1, %r2;",
                       "6:9: error: expected an operand, found '}'\n");
    expect_errors(HEADER "}\nmov.u32 %r1, %r2;\nmov.u32 %r1, %r2;\n.entry k() { frob; }\n",
                  "4:1: error: expected a directive, found '}'\n"
                  "7:14: error: 'frob' is not a PTX instruction\n");
}

Test(recover, a_wrong_version_or_target_makes_nothing_too_new)
{
    expect_errors(
        ".version eight\n.target sm_90, fast\n.address_size 64\n.entry k() { .reg .b32 %r;"
        " cp.async.wait_all; mov.u32 %r, %clusterid.x; }\n",
        "1:10: error: expected a version number, found 'eight'\n"
        "2:16: error: 'fast' is neither a target, such as sm_75, nor an option of "
        ".target\n");
}

Test(recover, a_wrong_initialiser_is_left_out)
{
    expect_errors(HEADER ".global .u32 a[3] = {1, zz, {2}}, b = 5;\n.global .u32 c = b;\n.bad x;\n",
                  "4:25: error: 'zz' is not a variable or function declared above\n"
                  "6:1: error: unknown type or qualifier '.bad'\n");
}

Test(recover, a_text_that_is_no_ptx_has_one_error)
{
    expect_errors("int main(void)\n{\n    return 0;\n}\n",
                  "1:1: error: expected '.version', found 'int'\n");
}

Test(recover, the_number_of_errors_is_limited)
{
    char text[8192] = HEADER ".entry k() {\n";
    struct pxr_error err;
    const char *message;
    unsigned lines = 0;

    for (int i = 0; i < 300; i++)
        strcat(text, "frob; ");
    message = parse_error(strcat(text, "}"), &err);
    for (const char *at = message; (at = strstr(at, "error: ")); at++)
        lines++;
    cr_assert_eq(lines, PTX_MAX_DIAGNOSTICS);
}

Test(recover, errors_that_do_not_fit_are_counted)
{
    static char text[20000] = HEADER ".entry k() {\n";
    struct pxr_error err;
    const char *message;

    for (int i = 0; i < 20; i++) {
        size_t len = strlen(text);

        memset(text + len, 'a' + i, 390);
        strcpy(text + len + 390, ";\n");
    }
    message = parse_error(strcat(text, "}"), &err);
    cr_assert_not_null(strstr(message, " more errors"));
    cr_assert_lt(strlen(message), PXR_ERROR_MESSAGE_BYTES);
}
