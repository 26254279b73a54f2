/* SPDX-License-Identifier: Apache-2.0
 *
 * Sections of ELF files and archives, in forms that the files of tests/data do not have.
 */
#include <criterion/criterion.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "ptx/elf.h"

static struct pxr_error err;

/* What a visit has seen last. */
struct seen {
    unsigned count;
    char name[32];
    char member[200];
    size_t offset;
    char bytes[32];
};

static enum pxr_status note(void *user, const struct ptx_elf_section *section,
                            struct pxr_error *unused)
{
    (void)unused;
    struct seen *seen = user;
    seen->count++;
    snprintf(seen->name, sizeof seen->name, "%s", section->name);
    snprintf(seen->member, sizeof seen->member, "%s", section->member ? section->member : "");
    seen->offset = section->offset;
    snprintf(seen->bytes, sizeof seen->bytes, "%.*s", (int)section->bytes.len,
             (const char *)section->bytes.ptr);
    return PXR_OK;
}

static enum pxr_status visit(const void *bytes, size_t len, struct seen *seen)
{
    *seen = (struct seen){0};
    return ptx_elf_visit_fatbins((struct ptx_span){bytes, len}, "file", note, seen, &err);
}

#define NAMES "\0.nv_fatbin\0__nv_relfatbin\0.shstrtab"
enum { FATBIN_NAME = 1, STRINGS_NAME = 27 };

struct small_elf {
    Elf64_Ehdr header;
    char fatbin[9];
    char names[sizeof NAMES];
    Elf64_Shdr sections[3];
};

static struct small_elf make_elf(void)
{
    struct small_elf elf = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                               EV_CURRENT},
                   .e_type = ET_REL,
                   .e_shoff = offsetof(struct small_elf, sections),
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = 3,
                   .e_shstrndx = 2},
        .fatbin = "contents",
        .names = NAMES,
        .sections = {[1] = {.sh_name = FATBIN_NAME,
                            .sh_type = SHT_PROGBITS,
                            .sh_offset = offsetof(struct small_elf, fatbin),
                            .sh_size = 8},
                     [2] = {.sh_name = STRINGS_NAME,
                            .sh_type = SHT_STRTAB,
                            .sh_offset = offsetof(struct small_elf, names),
                            .sh_size = sizeof NAMES}},
    };
    return elf;
}

static void expect_contents(const struct seen *seen, size_t offset)
{
    cr_expect_eq(seen->count, 1);
    cr_expect_str_eq(seen->name, ".nv_fatbin");
    cr_expect_str_eq(seen->bytes, "contents");
    cr_expect_eq(seen->offset, offset);
}

Test(elf, a_section_is_found_by_its_name)
{
    struct small_elf elf = make_elf();
    struct seen seen;
    cr_expect_eq(visit(&elf, sizeof elf, &seen), PXR_OK, "%s", err.message);
    expect_contents(&seen, offsetof(struct small_elf, fatbin));
}

/* Objects with very many sections have the numbers in section 0. */
Test(elf, section_numbers_may_be_in_section_0)
{
    struct small_elf elf = make_elf();
    elf.header.e_shnum = 0;
    elf.header.e_shstrndx = SHN_XINDEX;
    elf.sections[0].sh_size = 3;
    elf.sections[0].sh_link = 2;
    struct seen seen;
    cr_expect_eq(visit(&elf, sizeof elf, &seen), PXR_OK, "%s", err.message);
    expect_contents(&seen, offsetof(struct small_elf, fatbin));

    elf.sections[0].sh_size = UINT64_MAX / sizeof(Elf64_Shdr) + 4;
    cr_expect_eq(visit(&elf, sizeof elf, &seen), PXR_BAD_IMAGE);
}

Test(elf, a_file_without_sections_has_none)
{
    struct small_elf elf = make_elf();
    elf.header.e_shoff = 0;
    elf.header.e_shnum = 0;
    struct seen seen;
    cr_expect_eq(visit(&elf, sizeof elf, &seen), PXR_OK);
    cr_expect_eq(seen.count, 0);
}

static void expect_damaged(const struct small_elf *elf, const char *what)
{
    struct seen seen;
    cr_expect_eq(visit(elf, sizeof *elf, &seen), PXR_BAD_IMAGE, "%s", what);
    cr_expect_not_null(strstr(err.message, what), "%s: %s", what, err.message);
    cr_expect_eq(seen.count, 0);
}

Test(elf, what_lies_beyond_the_end_is_refused)
{
    struct small_elf elf = make_elf();
    elf.header.e_shoff = UINT64_MAX - 8;
    expect_damaged(&elf, "section headers");
    elf = make_elf();
    elf.header.e_shnum = 4;
    expect_damaged(&elf, "section headers beyond");
    elf = make_elf();
    elf.header.e_shstrndx = 3;
    expect_damaged(&elf, "no section names");
    elf = make_elf();
    elf.sections[2].sh_offset = sizeof elf;
    expect_damaged(&elf, "section names beyond");
    elf = make_elf();
    elf.sections[1].sh_size = UINT64_MAX;
    expect_damaged(&elf, "section .nv_fatbin reaches beyond");
    elf = make_elf();
    elf.header.e_ident[EI_CLASS] = ELFCLASS32;
    expect_damaged(&elf, "64 bits");
}

/* A name that has no end inside the table is no name. */
Test(elf, a_name_is_compared_within_the_table)
{
    struct small_elf elf = make_elf();
    elf.sections[2].sh_size = FATBIN_NAME + strlen(".nv_fatbin");
    struct seen seen;
    cr_expect_eq(visit(&elf, sizeof elf, &seen), PXR_OK);
    cr_expect_eq(seen.count, 0);
}

struct archive {
    size_t len;
    char bytes[4096];
};

static void add_member(struct archive *archive, const char *name, const void *bytes, size_t len)
{
    if (archive->len == 0)
        archive->len = (size_t)sprintf(archive->bytes, "!<arch>\n");
    archive->len += (size_t)sprintf(archive->bytes + archive->len,
                                    "%-16s%-12d%-6d%-6d%-8d%-10zu`\n", name, 0, 0, 0, 644, len);
    memcpy(archive->bytes + archive->len, bytes, len);
    archive->len += len;
    if (len % 2)
        archive->bytes[archive->len++] = '\n';
}

Test(elf, members_of_archives_have_short_and_long_names)
{
    static const char LONG_NAMES[] =
        "another_member_with_a_long_name.o/\nmember_with_a_long_name.o/\n";
    struct small_elf elf = make_elf();
    struct archive archive = {0};
    add_member(&archive, "/", "odd", 3);
    add_member(&archive, "//", LONG_NAMES, sizeof LONG_NAMES - 1);
    add_member(&archive, "text.o/", "no ELF file", 11);
    size_t short_at = archive.len;
    add_member(&archive, "short.o/", &elf, sizeof elf);
    struct seen seen;
    cr_expect_eq(visit(archive.bytes, archive.len, &seen), PXR_OK, "%s", err.message);
    cr_expect_str_eq(seen.member, "short.o");
    expect_contents(&seen, short_at + 60 + offsetof(struct small_elf, fatbin));

    add_member(&archive, "/35", &elf, sizeof elf);
    cr_expect_eq(visit(archive.bytes, archive.len, &seen), PXR_OK, "%s", err.message);
    cr_expect_eq(seen.count, 2);
    cr_expect_str_eq(seen.member, "member_with_a_long_name.o");

    // An offset beyond the names leaves the name as it is written.
    add_member(&archive, "/4000", &elf, sizeof elf);
    cr_expect_eq(visit(archive.bytes, archive.len, &seen), PXR_OK, "%s", err.message);
    cr_expect_eq(seen.count, 3);
}

Test(elf, a_damaged_archive_is_refused)
{
    struct small_elf elf = make_elf();
    struct archive archive = {0};
    add_member(&archive, "short.o/", &elf, sizeof elf);
    struct seen seen;
    cr_expect_eq(visit(archive.bytes, archive.len - 1, &seen), PXR_BAD_IMAGE);
    archive.bytes[8 + 48] = 'x';
    cr_expect_eq(visit(archive.bytes, archive.len, &seen), PXR_BAD_IMAGE);
    cr_expect_not_null(strstr(err.message, "archive"), "%s", err.message);
}
