/* SPDX-License-Identifier: Apache-2.0
 *
 * Module images in memory, made of the containers of the fixtures in tests/data/fatbin.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fatbin_builder.h"
#include "ptx/file.h"
#include "ptx/image.h"
#include "ptx/joined.h"
#include "ptx/ptx.h"
#include "ptx/source.h"

struct wrapper {
    uint32_t magic, version;
    const void *container;
    const void *linked;
};

static struct pxr_error err;
static struct ptx_module *module;
static struct ptx_image_summary summary;
static const void *linked[16];

static struct ptx_file *open_fixture(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", FIXTURES, name);
    struct ptx_file *file = NULL;
    cr_assert_eq(ptx_file_open(path, &file, &err), PXR_OK, "%s", err.message);
    return file;
}

/* The wrapper that the program's start-up code would pass. */
static struct wrapper wrap_plain(const struct ptx_file *file)
{
    for (uint32_t i = 0; i < file->container_count; i++) {
        if (file->containers[i].fatbin.entry_count > 0)
            linked[0] = file->containers[i].fatbin.bytes.ptr;
    }
    return (struct wrapper){PTX_FATBIN_WRAPPER_MAGIC, 1, linked[0], NULL};
}

static struct wrapper wrap_linked(const struct ptx_file *file)
{
    struct wrapper wrapper = {PTX_FATBIN_WRAPPER_MAGIC, 2, NULL, linked};
    size_t count = 0;
    for (uint32_t i = 0; i < file->container_count; i++) {
        const struct ptx_file_container *container = &file->containers[i];
        if (strcmp(container->section, ".nv_fatbin") == 0)
            wrapper.container = container->fatbin.bytes.ptr;
        else
            linked[count++] = container->fatbin.bytes.ptr;
    }
    linked[count] = NULL;
    return wrapper;
}

Test(image, plain_wrapper_becomes_a_module)
{
    struct ptx_file *file = open_fixture("default.exe");
    struct wrapper wrapper = wrap_plain(file);
    cr_assert_eq(ptx_image_load(&wrapper, PTX_IMAGE_SIZE_UNKNOWN, 75, "app", &module, &err), PXR_OK,
                 "%s", err.message);
    cr_expect_not_null(ptx_find_entry(module, "_Z5scalePii"));
    cr_expect_not_null(ptx_find_var(module, "total"));
    cr_expect_not_null(strstr(module->source_name, "app (fat binary 1, entry "));
    ptx_module_destroy(module);
    ptx_file_close(file);
}

/* Packed by zstd and by LZ4. */
Test(image, a_table_of_equal_numbers_is_read)
{
    static const char *const names[] = {"table.fatbin", "table_speed.fatbin"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct ptx_file *file = open_fixture(names[i]);
        struct wrapper wrapper = wrap_plain(file);
        cr_assert_eq(ptx_image_load(&wrapper, PTX_IMAGE_SIZE_UNKNOWN, 75, "app", &module, &err),
                     PXR_OK, "%s", err.message);
        const struct ptx_var *table = ptx_find_var(module, "table");
        cr_assert_not_null(table);
        cr_expect_eq(table->size_bytes, 1000000);
        cr_expect_eq(table->init_bytes[999999], 7);
        ptx_module_destroy(module);
        ptx_file_close(file);
    }
}

Test(image, units_of_a_linked_wrapper_become_one_module)
{
    struct ptx_file *file = open_fixture("rdc.exe");
    struct wrapper wrapper = wrap_linked(file);
    cr_assert_eq(ptx_image_load(&wrapper, PTX_IMAGE_SIZE_UNKNOWN, 75, "app", &module, &err), PXR_OK,
                 "%s", err.message);
    cr_expect_not_null(ptx_find_entry(module, "_Z10call_twicePi"));
    cr_expect_not_null(ptx_find_entry(module, "_Z12other_kernelPi"));
    const struct ptx_func *callee = ptx_find_func(module, "_Z5twicei");
    cr_assert_not_null(callee);
    cr_expect(callee->has_body);
    ptx_module_destroy(module);
    ptx_file_close(file);
}

static enum pxr_status join_text(void *user, struct pxr_str text, const char *label,
                                 struct pxr_error *error)
{
    const struct ptx_span span = {(const uint8_t *)text.ptr, text.len};
    return ptx_joined_add(user, span, label, error);
}

/* What is taken elsewhere to be compiled there: the texts that were chosen, and nothing else. */
Test(image, texts_that_are_visited_are_those_that_are_loaded)
{
    struct ptx_file *file = open_fixture("rdc.exe");
    struct wrapper wrapper = wrap_linked(file);
    struct ptx_joined joined = {0};
    struct ptx_source *source;
    cr_assert_eq(ptx_source_open(&wrapper, PTX_IMAGE_SIZE_UNKNOWN, 75, "app", &source, &err),
                 PXR_OK, "%s", err.message);
    cr_assert_eq(ptx_source_visit(source, join_text, &joined, &err), PXR_OK, "%s", err.message);
    ptx_source_close(source);
    cr_assert_eq(ptx_image_load(joined.bytes, joined.len, 75, "copy", &module, &err), PXR_OK, "%s",
                 err.message);
    cr_expect_not_null(ptx_find_entry(module, "_Z10call_twicePi"));
    cr_expect_not_null(ptx_find_entry(module, "_Z12other_kernelPi"));
    cr_expect(ptx_find_func(module, "_Z5twicei")->has_body);
    ptx_module_destroy(module);
    ptx_joined_fini(&joined);
    ptx_file_close(file);
}

Test(image, bare_container_text_and_file_contents_are_accepted)
{
    static const char *const NAMES[] = {"one.fatbin", "one.ptx"};
    for (size_t i = 0; i < 2; i++) {
        struct ptx_file *file = open_fixture(NAMES[i]);
        cr_assert_eq(ptx_image_load(file->bytes.ptr, file->bytes.len, 75, NAMES[i], &module, &err),
                     PXR_OK, "%s", err.message);
        cr_expect_not_null(ptx_find_entry(module, "_Z5scalePii"));
        ptx_module_destroy(module);
        ptx_file_close(file);
    }
}

Test(image, text_needs_no_length)
{
    cr_assert_eq(ptx_image_load("// by hand\n.version 8.0\n.target sm_75\n.address_size 64\n"
                                ".visible .entry k()\n{\nret;\n}\n",
                                PTX_IMAGE_SIZE_UNKNOWN, 75, "inline", &module, &err),
                 PXR_OK, "%s", err.message);
    cr_expect_not_null(ptx_find_entry(module, "k"));
    ptx_module_destroy(module);
}

Test(image, machine_code_alone_is_explained)
{
    struct ptx_file *file = open_fixture("cubin_only.exe");
    struct wrapper wrapper = wrap_plain(file);
    cr_assert_eq(ptx_image_load(&wrapper, PTX_IMAGE_SIZE_UNKNOWN, 75, "app", &module, &err),
                 PXR_NO_PTX);
    cr_expect_null(module);
    cr_expect_not_null(strstr(err.message, "code=compute_80"), "%s", err.message);
    cr_assert_eq(ptx_image_query(&wrapper, PTX_IMAGE_SIZE_UNKNOWN, "app", &summary, &err), PXR_OK);
    cr_expect_eq(summary.ptx_count, 0);
    cr_expect_str_eq(summary.cubin_archs, "sm_80");
    cr_expect_eq(ptx_image_explain_no_ptx(&summary, "app", "scale", &err), PXR_NO_PTX);
    cr_expect_not_null(strstr(err.message, "kernel 'scale'"), "%s", err.message);
    ptx_file_close(file);

    file = open_fixture("sm_100.cubin");
    cr_expect_eq(
        ptx_image_load(file->bytes.ptr, PTX_IMAGE_SIZE_UNKNOWN, 75, "cubin", &module, &err),
        PXR_NO_PTX);
    cr_expect_not_null(strstr(err.message, "sm_100"), "%s", err.message);
    ptx_file_close(file);
}

Test(image, query_lists_architectures_once)
{
    struct ptx_file *file = open_fixture("many.exe");
    struct wrapper wrapper = wrap_plain(file);
    cr_assert_eq(ptx_image_query(&wrapper, PTX_IMAGE_SIZE_UNKNOWN, "app", &summary, &err), PXR_OK);
    cr_expect_eq(summary.kind, PTX_IMAGE_WRAPPER);
    cr_expect_str_eq(summary.ptx_archs, "compute_80, compute_90a, compute_100f, compute_90");
    cr_expect_eq(summary.lowest_cubin_arch, 75);
    ptx_file_close(file);
}

Test(image, long_architecture_lists_are_cut)
{
    static struct fatbin_builder builder;
    builder_start(&builder);
    for (uint32_t arch = 10; arch < 60; arch++)
        builder_add_ptx(&builder, arch, 0x11);
    cr_assert_eq(ptx_image_query(builder.bytes, builder.len, "t", &summary, &err), PXR_OK);
    size_t len = strlen(summary.ptx_archs);
    cr_expect_lt(len, sizeof summary.ptx_archs);
    cr_expect_str_eq(summary.ptx_archs + len - 5, ", ...");
    cr_expect_null(strstr(summary.ptx_archs, "..., "));
}

Test(image, device_runtime_is_left_out)
{
    static const char RUNTIME[] =
        ".version 8.5\n.target sm_75\n.address_size 64\n"
        ".visible .func (.param .b64 r) cudaGetParameterBufferV2(.param .b64 f)\n{\nret;\n}\n"
        ".visible .func (.param .b32 r) __cudaCDP2LaunchDeviceV2()\n{\nret;\n}\n";
    static struct fatbin_builder builder;
    builder_start(&builder);
    builder_add(&builder,
                (struct entry_spec){PTX_FATBIN_PTX, 75, 0x11, RUNTIME, sizeof RUNTIME, 0});
    cr_expect_eq(ptx_image_load(builder.bytes, builder.len, 75, "t", &module, &err), PXR_NO_PTX);

    struct ptx_file *file = open_fixture("rdc.exe");
    struct wrapper wrapper = wrap_linked(file);
    size_t count = 0;
    while (linked[count])
        count++;
    linked[count] = builder.bytes;
    linked[count + 1] = NULL;
    cr_assert_eq(ptx_image_load(&wrapper, PTX_IMAGE_SIZE_UNKNOWN, 75, "t", &module, &err), PXR_OK,
                 "%s", err.message);
    cr_expect_null(ptx_find_func(module, "cudaGetParameterBufferV2"));
    ptx_module_destroy(module);
    ptx_file_close(file);
}

Test(image, what_is_no_image_is_refused)
{
    static const char ELF[64] = "\x7f"
                                "ELF\2\1\1";
    struct wrapper wrapper = {PTX_FATBIN_WRAPPER_MAGIC, 3, "x", NULL};
    cr_expect_eq(ptx_image_load(NULL, PTX_IMAGE_SIZE_UNKNOWN, 75, "t", &module, &err),
                 PXR_INVALID_ARGUMENT);
    cr_expect_eq(ptx_image_load("", PTX_IMAGE_SIZE_UNKNOWN, 75, "t", &module, &err), PXR_BAD_IMAGE);
    cr_expect_eq(ptx_image_load("abc", PTX_IMAGE_SIZE_UNKNOWN, 75, "t", &module, &err),
                 PXR_BAD_IMAGE);
    cr_expect_eq(ptx_image_load(ELF, PTX_IMAGE_SIZE_UNKNOWN, 75, "t", &module, &err),
                 PXR_BAD_IMAGE);
    cr_expect_eq(ptx_image_load(&wrapper, PTX_IMAGE_SIZE_UNKNOWN, 75, "t", &module, &err),
                 PXR_BAD_IMAGE);
    wrapper = (struct wrapper){PTX_FATBIN_WRAPPER_MAGIC, 1, NULL, NULL};
    cr_expect_eq(ptx_image_load(&wrapper, PTX_IMAGE_SIZE_UNKNOWN, 75, "t", &module, &err),
                 PXR_BAD_IMAGE);
    cr_expect_eq(ptx_image_load(&wrapper, sizeof wrapper, 75, "t", &module, &err), PXR_BAD_IMAGE,
                 "pointers out of a file mean nothing");
    cr_expect_null(module);
}

static void try_image(const uint8_t *bytes, size_t len)
{
    uint8_t *copy = malloc(len ? len : 1);
    memcpy(copy, bytes, len);
    if (ptx_image_load(copy, len, 75, "t", &module, &err) == PXR_OK)
        ptx_module_destroy(module);
    free(copy);
}

#define CALL_HEADER ".version 8.0\n.target sm_75\n.address_size 64\n.extern .func f();\n"

static enum pxr_status load_text(const char *text)
{
    enum pxr_status status = ptx_image_load(text, PTX_IMAGE_SIZE_UNKNOWN, 75, "app", &module, &err);
    if (status == PXR_OK)
        ptx_module_destroy(module);
    return status;
}

Test(image, a_call_of_a_function_that_nobody_defines_is_told_when_it_is_loaded)
{
    cr_expect_eq(load_text(CALL_HEADER ".entry k() { call f; ret; }"), PXR_BAD_PTX);
    cr_expect_str_eq(err.message, "app:5:14: error: Unresolved extern function 'f', called by 'k'");
    cr_expect_null(module);
    cr_expect_eq(load_text(CALL_HEADER ".func g() { call f; ret; } .entry k() { ret; }"),
                 PXR_BAD_PTX);
    cr_expect_eq(load_text(CALL_HEADER ".entry k() { ret; }"), PXR_OK);
    cr_expect_eq(load_text(CALL_HEADER ".entry k() { call f; ret; } .func f() { ret; }"), PXR_OK);
    cr_expect_eq(load_text(CALL_HEADER ".extern .func free(.param .b64 p);\n"
                                       ".extern .func (.param .b32 r) cudaDeviceSynchronize();\n"
                                       ".entry k() { .reg .b64 %a; .reg .b32 %r; call free, (%a);"
                                       " call (%r), cudaDeviceSynchronize; ret; }"),
                 PXR_OK);
}

/* What a link joins need not be complete before. */
Test(image, a_function_of_another_input_is_found)
{
    static const char caller[] = CALL_HEADER ".entry k() { call f; ret; }";
    static const char callee[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                                 ".visible .func f() { ret; }";
    struct ptx_joined joined = {0};
    struct ptx_span inputs[] = {{(const uint8_t *)caller, sizeof caller},
                                {(const uint8_t *)callee, sizeof callee}};

    cr_assert_eq(ptx_joined_add(&joined, inputs[0], "caller", &err), PXR_OK);
    cr_expect_eq(ptx_image_load(joined.bytes, joined.len, 75, "app", &module, &err), PXR_BAD_PTX);
    cr_assert_eq(ptx_joined_add(&joined, inputs[1], "callee", &err), PXR_OK);
    cr_expect_eq(ptx_image_load(joined.bytes, joined.len, 75, "app", &module, &err), PXR_OK, "%s",
                 err.message);
    ptx_module_destroy(module);
    ptx_joined_fini(&joined);
}

Test(image, damaged_images_never_crash, .timeout = 600)
{
    struct ptx_file *file = open_fixture("one.fatbin");
    size_t len = file->bytes.len;
    uint8_t *bytes = malloc(len);
    memcpy(bytes, file->bytes.ptr, len);
    for (size_t at = 0; at < len; at++) {
        try_image(bytes, at);
        bytes[at] ^= (uint8_t)(1u << (at % 8));
        try_image(bytes, len);
        bytes[at] ^= (uint8_t)(1u << (at % 8));
    }
    free(bytes);
    ptx_file_close(file);
}

/* 32 readable bytes with this header at their start, and nothing behind them. */
static void *image_at_the_end_of_memory(uint64_t content_bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(map, MAP_FAILED);
    cr_assert_eq(mprotect(map + page, page, PROT_NONE), 0);
    uint32_t magic = PTX_FATBIN_MAGIC;
    uint16_t numbers[] = {1, 16}; /* version, bytes of the header */
    uint8_t *image = map + page - 32;
    memcpy(image, &magic, sizeof magic);
    memcpy(image + 4, numbers, sizeof numbers);
    memcpy(image + 8, &content_bytes, sizeof content_bytes);
    return image;
}

Test(image, damaged_sizes_do_not_lead_beyond_the_mapped_memory)
{
    void *image = image_at_the_end_of_memory((uint64_t)1 << 33);
    cr_assert_eq(ptx_image_query(image, PTX_IMAGE_SIZE_UNKNOWN, "cut", &summary, &err),
                 PXR_BAD_IMAGE);
    cr_expect_not_null(strstr(err.message, "only 32 are there"), "%s", err.message);
    cr_expect_eq(ptx_image_load(image, PTX_IMAGE_SIZE_UNKNOWN, 75, "cut", &module, &err),
                 PXR_BAD_IMAGE);
}

Test(image, wrappers_that_point_nowhere_are_refused)
{
    struct wrapper nowhere = {PTX_FATBIN_WRAPPER_MAGIC, 1, (void *)0x10, NULL};
    cr_expect_eq(ptx_image_load(&nowhere, PTX_IMAGE_SIZE_UNKNOWN, 75, "damaged", &module, &err),
                 PXR_BAD_IMAGE);
    struct ptx_file *file = open_fixture("rdc.exe");
    nowhere = wrap_linked(file);
    nowhere.linked = (void *)0x10;
    cr_expect_eq(ptx_image_load(&nowhere, PTX_IMAGE_SIZE_UNKNOWN, 75, "damaged", &module, &err),
                 PXR_BAD_IMAGE);
    cr_expect_not_null(strstr(err.message, "list of fat binaries"), "%s", err.message);
    ptx_file_close(file);
}
