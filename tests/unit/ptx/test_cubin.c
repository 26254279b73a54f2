/* SPDX-License-Identifier: Apache-2.0
 *
 * Cubins that carry PTX, in all places that read images and files.
 */
#include <criterion/criterion.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ptx/cubin.h"
#include "ptx/file.h"
#include "ptx/image.h"
#include "ptx/joined.h"
#include "ptx/ptx.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static const char caller[] = HEAD ".extern .func f;\n.visible .entry k() { call f; ret; }\n";
static const char callee[] = HEAD ".visible .func f { ret; }\n";
static struct pxr_error err;
static uint8_t *cubin;
static size_t len;

static struct ptx_span span(const char *text)
{
    return (struct ptx_span){(const uint8_t *)text, strlen(text)};
}

static void make(size_t count)
{
    const struct ptx_span texts[] = {span(caller), span(callee)};
    cr_assert_eq(ptx_cubin_make(texts + (count == 1), count, 80, &cubin, &len, &err), PXR_OK);
}

static void expect_loads(size_t size)
{
    struct ptx_module *module;
    cr_assert_eq(ptx_image_load(cubin, size, 90, "image", &module, &err), PXR_OK, "%s",
                 err.message);
    cr_expect_not_null(ptx_find_func(module, "f"));
    ptx_module_destroy(module);
}

Test(cubin, one_text_is_loaded)
{
    make(1);
    cr_expect_eq(ptx_cubin_arch((struct ptx_span){cubin, len}), 80);
    expect_loads(len);
    expect_loads(PTX_IMAGE_SIZE_UNKNOWN);
    free(cubin);
}

Test(cubin, several_texts_are_linked)
{
    make(2);
    struct ptx_module *module;
    cr_assert_eq(ptx_image_load(cubin, len, 90, "image", &module, &err), PXR_OK, "%s", err.message);
    cr_assert_not_null(ptx_find_entry(module, "k"));
    cr_expect(ptx_find_func(module, "f")->has_body);
    ptx_module_destroy(module);
    free(cubin);
}

Test(cubin, a_link_takes_its_texts)
{
    struct ptx_joined joined = {0};
    make(1);
    cr_assert_eq(ptx_joined_add(&joined, span(caller), "a", &err), PXR_OK, "%s", err.message);
    cr_assert_eq(ptx_joined_add(&joined, (struct ptx_span){cubin, len}, "b", &err), PXR_OK, "%s",
                 err.message);
    struct ptx_module *module;
    cr_assert_eq(ptx_image_load(joined.bytes, joined.len, 90, "link", &module, &err), PXR_OK, "%s",
                 err.message);
    cr_expect(ptx_find_func(module, "f")->has_body);
    ptx_module_destroy(module);
    ptx_joined_fini(&joined);
    free(cubin);
}

Test(cubin, a_file_has_its_texts)
{
    char path[] = "/tmp/ptxrun-cubin-XXXXXX";
    int fd = mkstemp(path);
    make(2);
    cr_assert_eq(write(fd, cubin, len), (ssize_t)len);
    close(fd);
    struct ptx_file *file;
    cr_assert_eq(ptx_file_open(path, &file, &err), PXR_OK, "%s", err.message);
    cr_expect_eq(file->kind, PTX_FILE_CUBIN);
    cr_assert_eq(file->container_count, 2);
    cr_expect_eq(file->containers[1].fatbin.entries[0].kind, PTX_FATBIN_PTX);
    ptx_file_close(file);
    unlink(path);
    free(cubin);
}

/* Any cut gives an error, and no read behind the end. */
Test(cubin, a_cut_file_is_refused)
{
    make(2);
    for (size_t cut = 0; cut < len; cut++) {
        struct ptx_module *module;
        uint8_t *copy = malloc(cut + 1);
        memcpy(copy, cubin, cut);
        cr_expect_neq(ptx_image_load(copy, cut, 90, "cut", &module, &err), PXR_OK, "%zu", cut);
        free(copy);
    }
    free(cubin);
}

Test(cubin, no_text_is_no_cubin)
{
    cr_expect_eq(ptx_cubin_make(NULL, 0, 80, &cubin, &len, &err), PXR_INVALID_ARGUMENT);
}
