/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parser's tests share: modules from text, and one instruction inside a kernel.
 */
#ifndef PTXRUN_TESTS_PARSE_HELPER_H
#define PTXRUN_TESTS_PARSE_HELPER_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"

#define HEADER ".version 9.0\n.target sm_100a\n.address_size 64\n"

/* Registers that the instructions of the tests use. */
#define REGISTERS                                                                                  \
    ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>;\n"                     \
    ".reg .f32 %f<16>; .reg .f64 %fd<8>; .reg .b128 %q<2>; .reg .v4 .f32 %v;\n"

static inline struct ptx_module *parse_text(const char *text)
{
    struct ptx_module *module = NULL;
    struct pxr_error err = {0};
    enum pxr_status status = ptx_parse(pxr_str_from(text), "test.ptx", &module, &err);

    cr_assert_eq(status, PXR_OK, "%s", err.message);
    cr_assert_not_null(module);
    return module;
}

/* The message of the error that the text must give. */
static inline const char *parse_error(const char *text, struct pxr_error *err)
{
    struct ptx_module *module = NULL;
    enum pxr_status status;

    *err = (struct pxr_error){0};
    status = ptx_parse(pxr_str_from(text), "test.ptx", &module, err);
    cr_assert_eq(status, PXR_BAD_PTX, "accepted: %s", text);
    cr_assert_null(module);
    cr_assert_eq(err->status, PXR_BAD_PTX);
    return err->message;
}

static inline char *kernel_text(const char *body)
{
    static const char start[] =
        HEADER ".global .u32 gvar[4];\n.shared .u32 svar;\n.func device_function() { ret; }\n"
               ".entry k(.param .u64 param)\n{\n" REGISTERS;
    size_t size = sizeof(start) + strlen(body) + 16;
    char *text = malloc(size);

    snprintf(text, size, "%s%s\nret;\n}\n", start, body);
    return text;
}

static inline struct ptx_module *parse_body(const char *body)
{
    char *text = kernel_text(body);
    struct ptx_module *module = parse_text(text);

    free(text);
    return module;
}

static inline void expect_body_error(const char *body, const char *part)
{
    char *text = kernel_text(body);
    struct pxr_error err;
    const char *message = parse_error(text, &err);

    cr_assert_not_null(strstr(message, part), "'%s' gave: %s", body, message);
    free(text);
}

/* The n-th instruction of the kernel. */
static inline const struct ptx_inst *inst_at(const struct ptx_module *module, unsigned n)
{
    const struct ptx_func *kernel = ptx_find_entry(module, "k");

    cr_assert_not_null(kernel);
    for (uint32_t i = 0; i < kernel->stmt_count; i++)
        if (kernel->stmts[i].kind == PTX_STMT_INST && n-- == 0)
            return &kernel->stmts[i].inst;
    cr_assert_fail("too few instructions");
    abort();
}

static inline char *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 20);

    cr_assert_not_null(file, "%s", path);
    *len = fread(text, 1, (1 << 20) - 1, file);
    text[*len] = '\0';
    fclose(file);
    return text;
}

#endif
