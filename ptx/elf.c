/* SPDX-License-Identifier: Apache-2.0
 *
 * Section search with libelf. Section contents are taken from the file's bytes after an own check
 * of offset and size, so that nothing is copied or converted.
 */
#include "ptx/elf.h"

#include <gelf.h>
#include <libelf.h>

/* Ordinary containers, and those of relocatable device code (-rdc=true). */
static const char *const FATBIN_SECTIONS[] = {".nv_fatbin", "__nv_relfatbin"};

struct walk {
    struct ptx_span file;
    const char *label;
    ptx_elf_visit_fn visit;
    void *user;
};

static const char *fatbin_section_name(const char *name)
{
    for (size_t i = 0; name && i < sizeof FATBIN_SECTIONS / sizeof *FATBIN_SECTIONS; i++) {
        if (strcmp(name, FATBIN_SECTIONS[i]) == 0)
            return FATBIN_SECTIONS[i];
    }
    return NULL;
}

static enum pxr_status fail_elf(const struct walk *walk, const char *member, struct pxr_error *err)
{
    return pxr_fail(err, PXR_BAD_IMAGE, "%s%s%s: damaged ELF file: %s", walk->label,
                    member ? ": " : "", member ? member : "", elf_errmsg(-1));
}

/* The section's bytes in the file; image is the ELF file itself, part of walk->file. */
static enum pxr_status visit_section(const struct walk *walk, const char *member,
                                     struct ptx_span image, const char *name,
                                     const GElf_Shdr *header, struct pxr_error *err)
{
    if (header->sh_type == SHT_NOBITS || header->sh_size == 0)
        return PXR_OK;
    if (header->sh_offset > image.len || header->sh_size > image.len - header->sh_offset)
        return pxr_fail(err, PXR_BAD_IMAGE, "%s%s%s: section %s reaches beyond the end of the file",
                        walk->label, member ? ": " : "", member ? member : "", name);
    struct ptx_elf_section section = {
        .name = name,
        .member = member,
        .offset = (size_t)(image.ptr - walk->file.ptr) + (size_t)header->sh_offset,
        .bytes = {image.ptr + header->sh_offset, (size_t)header->sh_size},
    };
    return walk->visit(walk->user, &section, err);
}

static enum pxr_status visit_elf(const struct walk *walk, Elf *elf, const char *member,
                                 struct pxr_error *err)
{
    struct ptx_span image = {0};
    image.ptr = (const uint8_t *)elf_rawfile(elf, &image.len);
    size_t names = 0;
    if (!image.ptr || elf_getshdrstrndx(elf, &names) != 0)
        return fail_elf(walk, member, err);
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header))
            return fail_elf(walk, member, err);
        const char *name = fatbin_section_name(elf_strptr(elf, names, header.sh_name));
        if (!name)
            continue;
        enum pxr_status status = visit_section(walk, member, image, name, &header, err);
        if (status)
            return status;
    }
    return PXR_OK;
}

static enum pxr_status visit_archive(const struct walk *walk, Elf *archive, struct pxr_error *err)
{
    Elf_Cmd command = ELF_C_READ_MMAP; // members of an archive in memory stay where they are
    enum pxr_status status = PXR_OK;
    while (status == PXR_OK && command != ELF_C_NULL) {
        Elf *elf = elf_begin(-1, command, archive);
        if (!elf)
            break;
        const Elf_Arhdr *member = elf_getarhdr(elf);
        if (elf_kind(elf) == ELF_K_ELF)
            status = visit_elf(walk, elf, member && member->ar_name ? member->ar_name : "?", err);
        command = elf_next(elf);
        elf_end(elf);
    }
    return status;
}

enum ptx_elf_type ptx_elf_type(struct ptx_span file)
{
    static const char ARCHIVE_MAGIC[] = "!<arch>\n";
    if (file.len >= 8 && memcmp(file.ptr, ARCHIVE_MAGIC, 8) == 0)
        return PTX_ELF_ARCHIVE;
    if (file.len < EI_NIDENT + 2 || memcmp(file.ptr, ELFMAG, SELFMAG) != 0)
        return PTX_ELF_NONE;
    uint16_t type;
    memcpy(&type, file.ptr + EI_NIDENT, sizeof type);
    return type == ET_REL ? PTX_ELF_OBJECT : type == ET_DYN ? PTX_ELF_SHARED : PTX_ELF_EXECUTABLE;
}

enum pxr_status ptx_elf_visit_fatbins(struct ptx_span file, const char *label,
                                      ptx_elf_visit_fn visit, void *user, struct pxr_error *err)
{
    struct walk walk = {.file = file, .label = label, .visit = visit, .user = user};
    elf_version(EV_CURRENT);
    // libelf's prototype lacks a const; it does not write to a file opened for reading.
    Elf *elf = elf_memory((char *)(uintptr_t)file.ptr, file.len);
    if (!elf)
        return fail_elf(&walk, NULL, err);
    enum pxr_status status;
    switch (elf_kind(elf)) {
    case ELF_K_ELF:
        status = visit_elf(&walk, elf, NULL, err);
        break;
    case ELF_K_AR:
        status = visit_archive(&walk, elf, err);
        break;
    default:
        status = pxr_fail(err, PXR_BAD_IMAGE, "%s: neither an ELF file nor an archive", label);
    }
    elf_end(elf);
    return status;
}
