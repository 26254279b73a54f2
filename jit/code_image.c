/* SPDX-License-Identifier: Apache-2.0
 *
 * See image.h.
 */
#include "jit/code_image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jit/symbols.h"

/* ---- rules ---- */

static enum pxr_status classify_section(const struct elf_object *object, uint32_t index,
                                        enum section_kind *kind, struct pxr_error *err)
{
    const Elf64_Shdr *section = &object->sections[index];
    const char *name = elf_section_name(object, index);
    *kind = SECTION_SKIPPED;
    if (!(section->sh_flags & SHF_ALLOC) || section->sh_type == SHT_NOTE ||
        section->sh_type == SHT_NULL || strcmp(name, ".eh_frame") == 0)
        return PXR_OK;
    bool is_writable = section->sh_flags & SHF_WRITE;
    bool is_text = section->sh_flags & SHF_EXECINSTR;
    if (section->sh_size == 0 && !is_text)
        return PXR_OK;
    if (section->sh_type != SHT_PROGBITS || (section->sh_flags & SHF_TLS) ||
        (is_writable && (is_text || strncmp(name, ".data.rel.ro", 12) != 0)))
        return pxr_fail(err, PXR_COMPILE_FAILED,
                        "section '%s' of the compiled code is neither text nor constants", name);
    if (section->sh_addralign > (uint64_t)sysconf(_SC_PAGESIZE))
        return pxr_fail(err, PXR_COMPILE_FAILED,
                        "section '%s' of the compiled code has too large an alignment", name);
    *kind = is_text ? SECTION_TEXT : SECTION_CONSTANTS;
    return PXR_OK;
}

/* What is not loaded is for debuggers: it has addresses and offsets, nothing that needs a stub. */
static enum pxr_status check_reloc_of_skipped(void *argument, uint32_t section,
                                              const struct elf_reloc *reloc, struct pxr_error *err)
{
    const struct image *image = argument;
    enum reloc_class class = image->arch->classify(reloc->type);
    if (class == RELOC_ABSOLUTE || class == RELOC_OFFSET || class == RELOC_DIRECT)
        return PXR_OK;
    return pxr_fail(err, PXR_COMPILE_FAILED,
                    "the compiled code has a relocation of type %u in section '%s'",
                    (unsigned)reloc->type, elf_section_name(&image->object, section));
}

/* What is allowed of relocations, and which symbols need a stub or a slot. */
static enum pxr_status note_reloc(void *argument, uint32_t section, const struct elf_reloc *reloc,
                                  struct pxr_error *err)
{
    struct image *image = argument;
    struct symbol_use *use = &image->uses[reloc->symbol];
    enum reloc_class class = image->arch->classify(reloc->type);
    if (class == RELOC_UNKNOWN || class == RELOC_OFFSET)
        return pxr_fail(err, PXR_COMPILE_FAILED, "the compiled code has a relocation of type %u",
                        (unsigned)reloc->type);
    if (class == RELOC_ABSOLUTE && !(image->object.sections[section].sh_flags & SHF_WRITE))
        return pxr_fail(err, PXR_COMPILE_FAILED,
                        "the compiled code holds an absolute address in section '%s'",
                        elf_section_name(&image->object, section));
    if (image->arch->width(reloc->type) > image->object.sections[section].sh_size - reloc->offset)
        return pxr_fail(err, PXR_COMPILE_FAILED,
                        "the object file is damaged: a relocation "
                        "beyond the end of its section");
    if (class == RELOC_SLOT || (class == RELOC_CALL && use->is_external))
        use->needs_slot = true;
    if (class == RELOC_CALL && use->is_external)
        use->needs_stub = true;
    return PXR_OK;
}

static void *external_address(const struct image *image, const char *name)
{
    void *address = jit_symbol_address(name);
    for (size_t i = 0; i < image->extra_count && !address; i++)
        if (strcmp(image->extra[i].name, name) == 0)
            address = image->extra[i].address;
    return address;
}

static bool is_kernel(const struct image *image, uint32_t index)
{
    Elf64_Sym symbol = elf_symbol(&image->object, index);
    return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
           strcmp(elf_symbol_name(&image->object, &symbol), JIT_KERNEL_SYMBOL) == 0;
}

/* What the object defines is in it, and the kernel is all that others can see of it. */
static bool is_defined_well(const struct image *image, uint32_t index)
{
    Elf64_Sym symbol = elf_symbol(&image->object, index);
    unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL && !is_kernel(image, index))
        return false;
    if (symbol.st_shndx == SHN_ABS)
        return type == STT_FILE;
    if (type > STT_SECTION || symbol.st_shndx >= image->object.section_count)
        return false;
    uint64_t room = image->object.sections[symbol.st_shndx].sh_size;
    return symbol.st_value <= room && symbol.st_size <= room - symbol.st_value;
}

/* Every undefined symbol must be known, whether it is used or not. */
static enum pxr_status check_symbols(struct image *image, struct pxr_error *err)
{
    for (uint32_t i = 1; i < image->object.symbol_count; i++) {
        Elf64_Sym symbol = elf_symbol(&image->object, i);
        const char *name = elf_symbol_name(&image->object, &symbol);
        image->uses[i].is_external = symbol.st_shndx == SHN_UNDEF;
        if (image->uses[i].is_external && !external_address(image, name))
            return pxr_fail(err, PXR_COMPILE_FAILED,
                            "the compiled code calls '%s', which generated code may not call",
                            name);
        if (!image->uses[i].is_external && !is_defined_well(image, i))
            return pxr_fail(
                err, PXR_COMPILE_FAILED,
                "the compiled code defines '%s', which is neither the kernel nor its own", name);
    }
    return PXR_OK;
}

static enum pxr_status find_kernel(struct image *image, struct pxr_error *err)
{
    uint32_t index = 1;
    while (index < image->object.symbol_count && !is_kernel(image, index))
        index++;
    if (index < image->object.symbol_count && !image->uses[index].is_external) {
        Elf64_Sym symbol = elf_symbol(&image->object, index);
        if (symbol.st_shndx < image->object.section_count &&
            image->kinds[symbol.st_shndx] == SECTION_TEXT &&
            symbol.st_value < image->object.sections[symbol.st_shndx].sh_size) {
            image->kernel = index;
            return PXR_OK;
        }
    }
    return pxr_fail(err, PXR_COMPILE_FAILED, "the compiled code has no function '%s'",
                    JIT_KERNEL_SYMBOL);
}

static enum pxr_status classify_sections(struct image *image, struct pxr_error *err)
{
    for (uint32_t i = 0; i < image->object.section_count; i++) {
        image->section_offsets[i] = IMAGE_NOT_PLACED;
        enum pxr_status status = classify_section(&image->object, i, &image->kinds[i], err);
        if (status != PXR_OK)
            return status;
    }
    return PXR_OK;
}

static enum pxr_status check_relocs(struct image *image, struct pxr_error *err)
{
    for (uint32_t i = 0; i < image->object.section_count; i++) {
        bool is_skipped = image->kinds[i] == SECTION_SKIPPED;
        enum pxr_status status = elf_each_reloc(
            &image->object, i, is_skipped ? check_reloc_of_skipped : note_reloc, image, err);
        if (status != PXR_OK)
            return status;
    }
    return PXR_OK;
}

enum pxr_status image_init(struct image *image, const struct jit_object *object,
                           const struct jit_symbol *extra, size_t extra_count,
                           struct pxr_error *err)
{
    *image = (struct image){.arch = reloc_arch_host(), .extra = extra, .extra_count = extra_count};
    enum pxr_status status =
        elf_object_init(&image->object, object->bytes, object->size_bytes, err);
    if (status != PXR_OK)
        return status;
    if (image->object.machine != image->arch->machine)
        return pxr_fail(err, PXR_COMPILE_FAILED, "the compiled code is for another processor");
    uint32_t section_count = image->object.section_count;
    image->kinds = calloc(section_count, sizeof *image->kinds);
    image->section_offsets = calloc(section_count, sizeof *image->section_offsets);
    image->uses = calloc(image->object.symbol_count + 1, sizeof *image->uses);
    if (!image->kinds || !image->section_offsets || !image->uses)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory to load compiled code");
    status = classify_sections(image, err);
    if (status == PXR_OK)
        status = check_symbols(image, err);
    if (status == PXR_OK)
        status = check_relocs(image, err);
    if (status == PXR_OK)
        status = find_kernel(image, err);
    return status;
}

void image_fini(struct image *image)
{
    free(image->kinds);
    free(image->section_offsets);
    free(image->uses);
    elf_object_fini(&image->object);
}

/* ---- memory ---- */

uint64_t image_align(uint64_t value, uint64_t alignment)
{
    return alignment > 1 ? (value + alignment - 1) & ~(alignment - 1) : value;
}

enum pxr_status image_map(struct image *image, uint64_t text_bytes, uint64_t rest_bytes,
                          struct pxr_error *err)
{
    if (text_bytes > IMAGE_BYTES_MAX || rest_bytes > IMAGE_BYTES_MAX - text_bytes)
        return pxr_fail(err, PXR_COMPILE_FAILED, "the compiled code is too large");
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    image->text_bytes = image_align(text_bytes, page);
    image->total_bytes = image->text_bytes + image_align(rest_bytes, page);
    if (!pxr_area_map(&image->area, image->total_bytes))
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no address space for compiled code");
    image->map = image->area.base;
    return PXR_OK;
}

enum pxr_status image_protect(const struct image *image, struct pxr_error *err)
{
    if (mprotect(image->map, image->text_bytes, PROT_READ | PROT_EXEC) != 0 ||
        (image->total_bytes > image->text_bytes &&
         mprotect(image->map + image->text_bytes, image->total_bytes - image->text_bytes,
                  PROT_READ) != 0))
        return pxr_fail(err, PXR_COMPILE_FAILED,
                        "the system does not allow compiled code to be made executable");
    __builtin___clear_cache((char *)image->map, (char *)image->map + image->text_bytes);
    return PXR_OK;
}

/* ---- what is read out of it ---- */

enum pxr_status image_symbol_address(const struct image *image, uint32_t index, uint64_t *address,
                                     struct pxr_error *err)
{
    Elf64_Sym symbol = elf_symbol(&image->object, index);
    const char *name = elf_symbol_name(&image->object, &symbol);
    if (image->uses[index].is_external) {
        *address = (uint64_t)(uintptr_t)external_address(image, name);
        return PXR_OK;
    }
    unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= image->object.section_count ||
        image->section_offsets[symbol.st_shndx] == IMAGE_NOT_PLACED ||
        symbol.st_value > image->object.sections[symbol.st_shndx].sh_size || type == STT_TLS ||
        type == STT_GNU_IFUNC)
        return pxr_fail(err, PXR_COMPILE_FAILED,
                        "symbol '%s' of the compiled code is not in a section that is loaded",
                        name);
    *address =
        (uint64_t)(uintptr_t)image->map + image->section_offsets[symbol.st_shndx] + symbol.st_value;
    return PXR_OK;
}

enum pxr_status image_each_reloc(const struct image *image, elf_reloc_fn fn, void *argument,
                                 struct pxr_error *err)
{
    for (uint32_t i = 0; i < image->object.section_count; i++) {
        if (image->kinds[i] == SECTION_SKIPPED)
            continue;
        enum pxr_status status = elf_each_reloc(&image->object, i, fn, argument, err);
        if (status != PXR_OK)
            return status;
    }
    return PXR_OK;
}

/* Only addresses of code are of interest; names of files and folders stay unrelocated. */
struct line_copy {
    struct image *image;
    uint8_t *bytes;
};

static enum pxr_status apply_line_reloc(void *argument, uint32_t section,
                                        const struct elf_reloc *reloc, struct pxr_error *err)
{
    struct line_copy *copy = argument;
    struct image *image = copy->image;
    if (image->arch->classify(reloc->type) != RELOC_ABSOLUTE)
        return PXR_OK;
    if (image->object.sections[section].sh_size - reloc->offset < sizeof(uint64_t))
        return pxr_fail(err, PXR_COMPILE_FAILED, "the line table of the code is damaged");
    uint64_t address;
    enum pxr_status status = image_symbol_address(image, reloc->symbol, &address, err);
    if (status != PXR_OK)
        return status;
    address += (uint64_t)reloc->addend;
    memcpy(copy->bytes + reloc->offset, &address, sizeof address);
    return PXR_OK;
}

enum pxr_status image_load_lines(struct image *image, struct jit_lines *lines,
                                 struct pxr_error *err)
{
    *lines = (struct jit_lines){0};
    uint32_t section = elf_find_section(&image->object, ".debug_line");
    if (section == 0 || image->object.sections[section].sh_size == 0)
        return PXR_OK;
    const Elf64_Shdr *header = &image->object.sections[section];
    if (header->sh_flags & SHF_COMPRESSED)
        return pxr_fail(err, PXR_COMPILE_FAILED, "the line table of the code is compressed");
    struct line_copy copy = {.image = image, .bytes = malloc(header->sh_size)};
    if (!copy.bytes)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory to load compiled code");
    memcpy(copy.bytes, image->object.bytes + header->sh_offset, header->sh_size);
    enum pxr_status status = elf_each_reloc(&image->object, section, apply_line_reloc, &copy, err);
    uint64_t low = (uint64_t)(uintptr_t)image->map;
    if (status == PXR_OK)
        status =
            jit_lines_init(lines, copy.bytes, header->sh_size, low, low + image->text_bytes, err);
    free(copy.bytes);
    return status;
}
