/* SPDX-License-Identifier: Apache-2.0
 *
 * Section search. Files come from anywhere: whatever is read is inside the file, wherever it lies
 * (members of archives are aligned to two bytes only), and nothing of it is copied or converted.
 * libelf would do the same, but its archive cannot be part of a shared library, and a program may
 * replace the functions of the shared one.
 */
#include "ptx/elf.h"

#include <ar.h>
#include <elf.h>
#include <stdbool.h>

/* Ordinary containers, and those of relocatable device code (-rdc=true). */
static const char *const FATBIN_SECTIONS[] = {".nv_fatbin", "__nv_relfatbin", NULL};

/* Those of cubins that carry PTX (ptx/cubin.h). */
static const char *const PTX_SECTIONS[] = {PTX_CUBIN_SECTION, NULL};

/* The length of a member's name in archives; longer names are cut in messages. */
#define MEMBER_NAME_BYTES 128

struct walk {
    struct ptx_span file;
    const char *label;
    const char *const *wanted; /* names of sections, up to NULL */
    ptx_elf_visit_fn visit;
    void *user;
};

/* One ELF file: the whole file, or a member of an archive. */
struct image {
    struct ptx_span bytes; /* part of walk->file */
    const char *member;    /* NULL where there is no archive */
    size_t headers;        /* offset of the section headers */
    size_t count;          /* sections */
    struct ptx_span names;
};

static bool is_inside(struct ptx_span span, uint64_t offset, uint64_t size_bytes)
{
    return offset <= span.len && size_bytes <= span.len - offset;
}

static const char *wanted_name(const char *const *wanted, struct ptx_span names, size_t offset)
{
    for (; *wanted; wanted++) {
        size_t with_end = strlen(*wanted) + 1;
        if (is_inside(names, offset, with_end) &&
            memcmp(names.ptr + offset, *wanted, with_end) == 0)
            return *wanted;
    }
    return NULL;
}

static enum pxr_status fail_elf(const struct walk *walk, const char *member, const char *what,
                                struct pxr_error *err)
{
    return pxr_fail(err, PXR_BAD_IMAGE, "%s%s%s: damaged ELF file: %s", walk->label,
                    member ? ": " : "", member ? member : "", what);
}

static bool is_elf(struct ptx_span bytes)
{
    return bytes.len >= SELFMAG && memcmp(bytes.ptr, ELFMAG, SELFMAG) == 0;
}

static bool is_elf64(struct ptx_span bytes)
{
    return is_elf(bytes) && bytes.len >= sizeof(Elf64_Ehdr) && bytes.ptr[EI_CLASS] == ELFCLASS64 &&
           bytes.ptr[EI_DATA] == ELFDATA2LSB;
}

static Elf64_Shdr section_header(const struct image *image, size_t index)
{
    Elf64_Shdr header;
    memcpy(&header, image->bytes.ptr + image->headers + index * sizeof header, sizeof header);
    return header;
}

/* The section headers and names. Numbers too large for the file's header are in section 0. */
static enum pxr_status read_image(const struct walk *walk, struct image *image,
                                  struct pxr_error *err)
{
    Elf64_Ehdr file;
    memcpy(&file, image->bytes.ptr, sizeof file);
    if (file.e_shoff == 0)
        return PXR_OK;
    if (file.e_shentsize != sizeof(Elf64_Shdr) ||
        !is_inside(image->bytes, file.e_shoff, sizeof(Elf64_Shdr)))
        return fail_elf(walk, image->member, "section headers of an unknown form", err);
    image->headers = (size_t)file.e_shoff;
    Elf64_Shdr first = section_header(image, 0);
    uint64_t count = file.e_shnum ? file.e_shnum : first.sh_size;
    uint64_t strings = file.e_shstrndx == SHN_XINDEX ? first.sh_link : file.e_shstrndx;
    if (count > (image->bytes.len - image->headers) / sizeof(Elf64_Shdr))
        return fail_elf(walk, image->member, "section headers beyond its end", err);
    if (strings >= count)
        return fail_elf(walk, image->member, "no section names", err);
    Elf64_Shdr names = section_header(image, (size_t)strings);
    if (names.sh_type == SHT_NOBITS || !is_inside(image->bytes, names.sh_offset, names.sh_size))
        return fail_elf(walk, image->member, "section names beyond its end", err);
    image->count = (size_t)count;
    image->names = (struct ptx_span){image->bytes.ptr + names.sh_offset, (size_t)names.sh_size};
    return PXR_OK;
}

static enum pxr_status visit_section(const struct walk *walk, const struct image *image,
                                     const char *name, const Elf64_Shdr *header,
                                     struct pxr_error *err)
{
    if (header->sh_type == SHT_NOBITS || header->sh_size == 0)
        return PXR_OK;
    if (!is_inside(image->bytes, header->sh_offset, header->sh_size))
        return pxr_fail(err, PXR_BAD_IMAGE, "%s%s%s: section %s reaches beyond the end of the file",
                        walk->label, image->member ? ": " : "", image->member ? image->member : "",
                        name);
    const uint8_t *bytes = image->bytes.ptr + header->sh_offset;
    struct ptx_elf_section section = {
        .name = name,
        .member = image->member,
        .offset = (size_t)(bytes - walk->file.ptr),
        .bytes = {bytes, (size_t)header->sh_size},
    };
    return walk->visit(walk->user, &section, err);
}

static enum pxr_status visit_elf(const struct walk *walk, struct ptx_span bytes, const char *member,
                                 struct pxr_error *err)
{
    struct image image = {.bytes = bytes, .member = member};
    enum pxr_status status = read_image(walk, &image, err);
    for (size_t i = 1; i < image.count && status == PXR_OK; i++) {
        Elf64_Shdr header = section_header(&image, i);
        const char *name = wanted_name(walk->wanted, image.names, header.sh_name);
        if (name)
            status = visit_section(walk, &image, name, &header, err);
    }
    return status;
}

/* A number in decimal, padded with blanks. */
static bool read_decimal(const char *text, size_t len, size_t *number)
{
    size_t value = 0, at = 0;
    for (; at < len && text[at] >= '0' && text[at] <= '9'; at++)
        value = value * 10 + (size_t)(text[at] - '0');
    *number = value;
    return at > 0 && (at == len || text[at] == ' ');
}

/* "name/", or "/offset" of a name in the member "//" that holds the long ones. */
static void read_member_name(const struct ar_hdr *header, struct ptx_span long_names,
                             char name[MEMBER_NAME_BYTES])
{
    const char *text = header->ar_name;
    size_t len = sizeof header->ar_name, offset;
    if (text[0] == '/' && read_decimal(text + 1, len - 1, &offset) && offset < long_names.len) {
        text = (const char *)long_names.ptr + offset;
        len = long_names.len - offset;
    }
    size_t end = 0;
    while (end < len && end < MEMBER_NAME_BYTES - 1 && text[end] != '/' && text[end] != '\n')
        end++;
    memcpy(name, text, end);
    name[end] = '\0';
}

static enum pxr_status visit_archive(const struct walk *walk, struct pxr_error *err)
{
    struct ptx_span file = walk->file, long_names = {0};
    enum pxr_status status = PXR_OK;
    for (size_t at = SARMAG; status == PXR_OK && is_inside(file, at, sizeof(struct ar_hdr));) {
        struct ar_hdr header;
        memcpy(&header, file.ptr + at, sizeof header);
        at += sizeof header;
        size_t len;
        if (memcmp(header.ar_fmag, ARFMAG, sizeof header.ar_fmag) != 0 ||
            !read_decimal(header.ar_size, sizeof header.ar_size, &len) || len > file.len - at)
            return pxr_fail(err, PXR_BAD_IMAGE, "%s: damaged archive: a member's header or size",
                            walk->label);
        struct ptx_span bytes = {file.ptr + at, len};
        char name[MEMBER_NAME_BYTES];
        read_member_name(&header, long_names, name);
        if (memcmp(header.ar_name, "// ", 3) == 0)
            long_names = bytes;
        else if (is_elf64(bytes))
            status = visit_elf(walk, bytes, name, err);
        at += len + len % 2;
    }
    return status;
}

enum ptx_elf_type ptx_elf_type(struct ptx_span file)
{
    if (file.len >= SARMAG && memcmp(file.ptr, ARMAG, SARMAG) == 0)
        return PTX_ELF_ARCHIVE;
    if (file.len < EI_NIDENT + 2 || !is_elf(file))
        return PTX_ELF_NONE;
    uint16_t type;
    memcpy(&type, file.ptr + EI_NIDENT, sizeof type);
    return type == ET_REL ? PTX_ELF_OBJECT : type == ET_DYN ? PTX_ELF_SHARED : PTX_ELF_EXECUTABLE;
}

enum pxr_status ptx_elf_visit_fatbins(struct ptx_span file, const char *label,
                                      ptx_elf_visit_fn visit, void *user, struct pxr_error *err)
{
    struct walk walk = {
        .file = file, .label = label, .wanted = FATBIN_SECTIONS, .visit = visit, .user = user};
    if (ptx_elf_type(file) == PTX_ELF_ARCHIVE)
        return visit_archive(&walk, err);
    if (!is_elf(file))
        return pxr_fail(err, PXR_BAD_IMAGE, "%s: neither an ELF file nor an archive", label);
    if (!is_elf64(file))
        return fail_elf(&walk, NULL, "not 64 bits wide, or not little-endian", err);
    return visit_elf(&walk, file, NULL, err);
}

enum pxr_status ptx_elf_visit_ptx(struct ptx_span cubin, const char *label, ptx_elf_visit_fn visit,
                                  void *user, struct pxr_error *err)
{
    struct walk walk = {
        .file = cubin, .label = label, .wanted = PTX_SECTIONS, .visit = visit, .user = user};
    // Real cubins may be damaged or of 32 bits: nothing of ours is in those.
    if (!is_elf64(cubin))
        return PXR_OK;
    return visit_elf(&walk, cubin, NULL, err);
}
