/* SPDX-License-Identifier: Apache-2.0
 *
 * Files as nvcc writes them (tests/data/fatbin), whole, cut off and damaged.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ptx/file.h"
#include "ptx/text.h"

static struct pxr_error err;

static struct ptx_file *open_fixture(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", FIXTURES, name);
    struct ptx_file *file = NULL;
    cr_assert_eq(ptx_file_open(path, &file, &err), PXR_OK, "%s", err.message);
    return file;
}

static unsigned count_kind(const struct ptx_file *file, unsigned kind)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < file->container_count; i++) {
        for (uint32_t j = 0; j < file->containers[i].fatbin.entry_count; j++)
            count += file->containers[i].fatbin.entries[j].kind == kind;
    }
    return count;
}

/* Whether some PTX of the file defines the kernel; expands every entry on the way. */
static bool defines_kernel(const struct ptx_file *file, const char *kernel)
{
    bool found = false;
    for (uint32_t i = 0; i < file->container_count; i++) {
        const struct ptx_file_container *container = &file->containers[i];
        for (uint32_t j = 0; j < container->fatbin.entry_count; j++) {
            const struct ptx_fatbin_entry *entry = &container->fatbin.entries[j];
            struct ptx_payload payload;
            cr_assert_eq(ptx_payload_expand(entry, container->label, &payload, &err), PXR_OK, "%s",
                         err.message);
            struct ptx_text_scan scan = {.text = ptx_payload_text(&payload)};
            struct ptx_text_function function;
            while (entry->kind == PTX_FATBIN_PTX && ptx_text_next_function(&scan, &function))
                found |= function.is_entry && pxr_str_is(function.name, kernel);
            ptx_payload_fini(&payload);
        }
    }
    return found;
}

static void expect_fixture(const char *name, enum ptx_file_kind kind, unsigned ptx, unsigned cubins)
{
    struct ptx_file *file = open_fixture(name);
    cr_expect_eq(file->kind, kind, "%s", name);
    cr_expect_eq(count_kind(file, PTX_FATBIN_PTX), ptx, "%s", name);
    // The device-link step may add a cubin without kernels.
    cr_expect_geq(count_kind(file, PTX_FATBIN_CUBIN), cubins, "%s", name);
    if (ptx > 0 && kind != PTX_FILE_ARCHIVE && strncmp(name, "rdc", 3) != 0)
        cr_expect(defines_kernel(file, "_Z5scalePii"), "%s", name);
    ptx_file_close(file);
}

Test(file, ptx_is_found_in_every_kind_of_file)
{
    expect_fixture("default.exe", PTX_FILE_SHARED_OBJECT, 1, 1);
    expect_fixture("sm_80.exe", PTX_FILE_SHARED_OBJECT, 1, 1);
    expect_fixture("compute_only.exe", PTX_FILE_SHARED_OBJECT, 1, 0);
    expect_fixture("cubin_only.exe", PTX_FILE_SHARED_OBJECT, 0, 1);
    expect_fixture("named.exe", PTX_FILE_SHARED_OBJECT, 1, 1);
    expect_fixture("many.exe", PTX_FILE_SHARED_OBJECT, 4, 3);
    expect_fixture("rdc.exe", PTX_FILE_SHARED_OBJECT, 2, 1);
    expect_fixture("rdc_a.obj", PTX_FILE_OBJECT, 1, 1);
    expect_fixture("one.obj", PTX_FILE_OBJECT, 1, 1);
    expect_fixture("one.so", PTX_FILE_SHARED_OBJECT, 1, 1);
    expect_fixture("one.fatbin", PTX_FILE_FATBIN, 1, 1);
    expect_fixture("two.a", PTX_FILE_ARCHIVE, 2, 2);
    expect_fixture("one.ptx", PTX_FILE_TEXT, 1, 0);
    expect_fixture("sm_80.cubin", PTX_FILE_CUBIN, 0, 1);
}

Test(file, every_compress_mode_is_expanded)
{
    static const struct {
        const char *name;
        enum ptx_packing packing;
    } MODES[] = {{"mode_default.exe", PTX_PACKING_ZSTD}, {"mode_size.exe", PTX_PACKING_ZSTD},
                 {"mode_speed.exe", PTX_PACKING_LZ4},    {"mode_balance.exe", PTX_PACKING_ZSTD},
                 {"mode_none.exe", PTX_PACKING_NONE},    {"compress_all.exe", PTX_PACKING_ZSTD}};
    for (size_t i = 0; i < sizeof MODES / sizeof *MODES; i++) {
        struct ptx_file *file = open_fixture(MODES[i].name);
        cr_expect(defines_kernel(file, "_Z5scalePii"), "%s", MODES[i].name);
        bool seen = false;
        for (uint32_t c = 0; c < file->container_count; c++) {
            const struct ptx_fatbin_entry *entry =
                ptx_fatbin_choose_ptx(&file->containers[c].fatbin, 75);
            seen |= entry && entry->packing == MODES[i].packing;
        }
        cr_expect(seen, "%s", MODES[i].name);
        ptx_file_close(file);
    }
}

Test(file, arch_suffixes_names_and_options_are_read)
{
    struct ptx_file *file = open_fixture("many.exe");
    char archs[256] = "";
    for (uint32_t i = 0; i < file->container_count; i++) {
        for (uint32_t j = 0; j < file->containers[i].fatbin.entry_count; j++) {
            char arch[PTX_FATBIN_ARCH_BYTES];
            ptx_fatbin_arch_text(&file->containers[i].fatbin.entries[j], arch);
            strcat(strcat(archs, arch), " ");
        }
    }
    cr_expect_not_null(strstr(archs, "compute_90a "), "%s", archs);
    cr_expect_not_null(strstr(archs, "compute_100f "), "%s", archs);
    cr_expect_not_null(strstr(archs, "sm_90a "), "%s", archs);
    cr_expect_not_null(strstr(archs, "compute_90 "), "%s", archs);
    ptx_file_close(file);

    bool named = false;
    file = open_fixture("named.exe");
    for (uint32_t i = 0; i < file->container_count; i++) {
        for (uint32_t j = 0; j < file->containers[i].fatbin.entry_count; j++)
            named |= pxr_str_is(file->containers[i].fatbin.entries[j].name, "one.cu");
    }
    cr_expect(named);
    ptx_file_close(file);

    file = open_fixture("rdc_a.obj");
    const struct ptx_fatbin_entry *entry = ptx_fatbin_choose_ptx(&file->containers[0].fatbin, 75);
    cr_assert_not_null(entry);
    cr_expect_not_null(memmem(entry->options.ptr, entry->options.len, "--compile-only", 14), "%.*s",
                       PXR_STR_ARG(entry->options));
    ptx_file_close(file);
}

Test(file, text_and_cubins_tell_their_target)
{
    struct ptx_file *file = open_fixture("one.ptx");
    cr_expect_eq(file->containers[0].fatbin.entries[0].arch, 75);
    cr_expect_eq(file->containers[0].fatbin.entries[0].version_major, 9);
    ptx_file_close(file);
    file = open_fixture("sm_80.cubin");
    cr_expect_eq(file->containers[0].fatbin.entries[0].arch, 80);
    ptx_file_close(file);
    file = open_fixture("sm_100.cubin");
    cr_expect_eq(file->containers[0].fatbin.entries[0].arch, 100);
    ptx_file_close(file);
}

Test(file, archive_members_are_named)
{
    struct ptx_file *file = open_fixture("two.a");
    cr_assert_eq(file->container_count, 2);
    cr_expect_str_eq(file->containers[0].member, "one.o");
    cr_expect_str_eq(file->containers[1].member, "rdc_a.o");
    cr_expect_not_null(strstr(file->containers[1].label, "rdc_a.o"));
    ptx_file_close(file);
}

Test(file, what_cannot_be_opened_is_explained)
{
    struct ptx_file *file;
    cr_expect_eq(ptx_file_open(FIXTURES "/no such file", &file, &err), PXR_NOT_FOUND);
    cr_expect_eq(ptx_file_open(FIXTURES, &file, &err), PXR_INVALID_ARGUMENT);
    cr_expect_eq(ptx_file_open("/dev/null", &file, &err), PXR_INVALID_ARGUMENT);
    cr_expect_eq(ptx_file_open(FIXTURES "/one.cu", &file, &err), PXR_BAD_IMAGE);
    cr_expect_not_null(strstr(err.message, "one.cu"));
    cr_expect_null(file);
}

/* A file in memory that ptx_file_open can open by path. */
struct memory_file {
    int fd;
    char path[64];
};

static struct memory_file create_memory_file(void)
{
    struct memory_file file = {.fd = memfd_create("fixture", MFD_CLOEXEC)};
    cr_assert_geq(file.fd, 0);
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.fd);
    return file;
}

static void try_open(const struct memory_file *memory)
{
    struct ptx_file *file;
    if (ptx_file_open(memory->path, &file, &err) != PXR_OK) {
        cr_expect_neq(err.message[0], 0);
        return;
    }
    for (uint32_t i = 0; i < file->container_count; i++) {
        const struct ptx_fatbin *fatbin = &file->containers[i].fatbin;
        for (uint32_t j = 0; j < fatbin->entry_count; j++) {
            struct ptx_payload payload;
            if (ptx_payload_expand(&fatbin->entries[j], "t", &payload, &err) == PXR_OK)
                ptx_payload_fini(&payload);
        }
    }
    ptx_file_close(file);
}

static void damage_fixture(const char *name, size_t step)
{
    struct ptx_file *file = open_fixture(name);
    struct memory_file memory = create_memory_file();
    size_t len = file->bytes.len;
    cr_assert_eq(write(memory.fd, file->bytes.ptr, len), (ssize_t)len);
    for (size_t at = 0; at < len; at += step) {
        uint8_t flipped = (uint8_t)(file->bytes.ptr[at] ^ (1u << (at / step % 8)));
        cr_assert_eq(pwrite(memory.fd, &flipped, 1, (off_t)at), 1);
        try_open(&memory);
        cr_assert_eq(pwrite(memory.fd, file->bytes.ptr + at, 1, (off_t)at), 1);
    }
    for (size_t at = len; at > 0; at = at > step ? at - step : 0) {
        cr_assert_eq(ftruncate(memory.fd, (off_t)at), 0);
        try_open(&memory);
    }
    close(memory.fd);
    ptx_file_close(file);
}

Test(file, damaged_containers_never_crash, .timeout = 600)
{
    damage_fixture("one.fatbin", 1);
    damage_fixture("one.obj", 1);
}

Test(file, damaged_elf_files_never_crash, .timeout = 600)
{
    damage_fixture("rdc.exe", 3);
    damage_fixture("two.a", 3);
    damage_fixture("sm_80.cubin", 3);
}
