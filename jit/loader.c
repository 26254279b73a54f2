/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads a relocatable object: one mapping with text and stubs, then constants and address slots.
 * Nothing in the object is believed, so that it may come from outside the process.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jit/elf_object.h"
#include "jit/jit.h"
#include "jit/lines.h"
#include "jit/reloc.h"
#include "jit/symbols.h"
#include "util/guard.h"

#define IMAGE_BYTES_MAX (UINT64_C(1) << 30) /* keeps every distance within 32 bits */
#define NOT_PLACED      UINT64_MAX
#define SLOT_BYTES      8

/* Zeros before the first function: tools that look for a type signature in front of a called
 * function (-fsanitize=function) then find none, instead of unmapped memory. */
#define TEXT_LEAD_BYTES 16

/* Immutable once loaded. */
struct jit_code {
    uint8_t *map; /* text, stubs | constants, address slots */
    struct pxr_area area;
    size_t text_bytes; /* executable part, whole pages */
    jit_kernel_fn entry;
    struct jit_lines lines;
    bool is_fused; /* entry is an rt_fused_fn */
    bool may_wait;
    uint64_t frame_fixed_bytes;
    uint64_t frame_warp_bytes;
    uint64_t frame_thread_bytes;
    _Atomic(uint32_t) pace;
};

enum section_kind { SECTION_SKIPPED, SECTION_TEXT, SECTION_CONSTANTS };

struct symbol_use {
    bool is_external;
    bool needs_stub;
    bool needs_slot;
    uint64_t stub; /* offsets in the image */
    uint64_t slot;
};

/* An object on its way into memory. */
struct image {
    const struct reloc_arch *arch;
    struct elf_object object;
    const struct jit_symbol *extra;
    size_t extra_count;
    enum section_kind *kinds;  /* by section */
    uint64_t *section_offsets; /* by section, in the image; NOT_PLACED */
    struct symbol_use *uses;   /* by symbol */
    uint64_t text_bytes;       /* whole pages */
    uint64_t total_bytes;      /* whole pages */
    uint8_t *map;              /* the area's */
    struct pxr_area area;
};

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

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
    return alignment > 1 ? (value + alignment - 1) & ~(alignment - 1) : value;
}

/* Gives every section of one kind its place. Object sizes bound the sum well below 2^64. */
static void place_sections(struct image *image, enum section_kind kind, uint64_t *offset)
{
    for (uint32_t i = 0; i < image->object.section_count; i++) {
        if (image->kinds[i] != kind)
            continue;
        *offset = align_up(*offset, image->object.sections[i].sh_addralign);
        image->section_offsets[i] = *offset;
        *offset += image->object.sections[i].sh_size;
    }
}

static enum pxr_status place_image(struct image *image, struct pxr_error *err)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t offset = TEXT_LEAD_BYTES;
    place_sections(image, SECTION_TEXT, &offset);
    offset = align_up(offset, image->arch->stub_bytes);
    for (uint32_t i = 0; i < image->object.symbol_count; i++) {
        if (!image->uses[i].needs_stub)
            continue;
        image->uses[i].stub = offset;
        offset += image->arch->stub_bytes;
    }
    offset = align_up(offset, page);
    image->text_bytes = offset;
    place_sections(image, SECTION_CONSTANTS, &offset);
    offset = align_up(offset, SLOT_BYTES);
    for (uint32_t i = 0; i < image->object.symbol_count; i++) {
        if (!image->uses[i].needs_slot)
            continue;
        image->uses[i].slot = offset;
        offset += SLOT_BYTES;
    }
    image->total_bytes = align_up(offset, page);
    if (image->total_bytes > IMAGE_BYTES_MAX)
        return pxr_fail(err, PXR_COMPILE_FAILED, "the compiled code is too large");
    return PXR_OK;
}

/* First pass over the relocations: which symbols need a stub or a slot. */
static enum pxr_status note_reloc(void *argument, uint32_t section, const struct elf_reloc *reloc,
                                  struct pxr_error *err)
{
    struct image *image = argument;
    struct symbol_use *use = &image->uses[reloc->symbol];
    enum reloc_class class = image->arch->classify(reloc->type);
    if (class == RELOC_UNKNOWN)
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

/* Every undefined symbol must be known, whether it is used or not. */
static enum pxr_status check_symbols(struct image *image, struct pxr_error *err)
{
    for (uint32_t i = 1; i < image->object.symbol_count; i++) {
        Elf64_Sym symbol = elf_symbol(&image->object, i);
        const char *name = elf_symbol_name(&image->object, &symbol);
        if (symbol.st_shndx != SHN_UNDEF)
            continue;
        if (!external_address(image, name))
            return pxr_fail(err, PXR_COMPILE_FAILED,
                            "the compiled code calls '%s', which generated code may not call",
                            name);
        image->uses[i].is_external = true;
    }
    return PXR_OK;
}

/* Address of a symbol, which must be a known external or in a section that is loaded. */
static enum pxr_status symbol_address(const struct image *image, uint32_t index, uint64_t *address,
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
        image->section_offsets[symbol.st_shndx] == NOT_PLACED ||
        symbol.st_value > image->object.sections[symbol.st_shndx].sh_size || type == STT_TLS ||
        type == STT_GNU_IFUNC)
        return pxr_fail(err, PXR_COMPILE_FAILED,
                        "symbol '%s' of the compiled code is not in a section that is loaded",
                        name);
    *address =
        (uint64_t)(uintptr_t)image->map + image->section_offsets[symbol.st_shndx] + symbol.st_value;
    return PXR_OK;
}

/* Second pass. */
static enum pxr_status apply_reloc(void *argument, uint32_t section, const struct elf_reloc *reloc,
                                   struct pxr_error *err)
{
    struct image *image = argument;
    const struct symbol_use *use = &image->uses[reloc->symbol];
    uint64_t base = (uint64_t)(uintptr_t)image->map;
    uint64_t offset = image->section_offsets[section] + reloc->offset;
    enum reloc_class class = image->arch->classify(reloc->type);
    uint64_t target = 0;
    if (class == RELOC_SLOT) {
        target = base + use->slot;
    } else if (class == RELOC_CALL && use->is_external) {
        target = base + use->stub;
    } else {
        enum pxr_status status = symbol_address(image, reloc->symbol, &target, err);
        if (status != PXR_OK)
            return status;
    }
    if (!image->arch->apply(reloc->type, image->map + offset, base + offset,
                            target + (uint64_t)reloc->addend))
        return pxr_fail(err, PXR_COMPILE_FAILED,
                        "a relocation of the compiled code is out of reach (type %u)",
                        (unsigned)reloc->type);
    return PXR_OK;
}

static enum pxr_status each_loaded_reloc(struct image *image, elf_reloc_fn fn,
                                         struct pxr_error *err)
{
    for (uint32_t i = 0; i < image->object.section_count; i++) {
        if (image->kinds[i] == SECTION_SKIPPED)
            continue;
        enum pxr_status status = elf_each_reloc(&image->object, i, fn, image, err);
        if (status != PXR_OK)
            return status;
    }
    return PXR_OK;
}

static enum pxr_status fill_slots(struct image *image, struct pxr_error *err)
{
    uint64_t base = (uint64_t)(uintptr_t)image->map;
    for (uint32_t i = 0; i < image->object.symbol_count; i++) {
        const struct symbol_use *use = &image->uses[i];
        if (!use->needs_slot)
            continue;
        uint64_t address;
        enum pxr_status status = symbol_address(image, i, &address, err);
        if (status != PXR_OK)
            return status;
        memcpy(image->map + use->slot, &address, sizeof address);
        if (use->needs_stub)
            image->arch->write_stub(image->map + use->stub, base + use->stub, base + use->slot);
    }
    return PXR_OK;
}

static enum pxr_status find_entry(const struct image *image, jit_kernel_fn *entry,
                                  struct pxr_error *err)
{
    for (uint32_t i = 1; i < image->object.symbol_count; i++) {
        Elf64_Sym symbol = elf_symbol(&image->object, i);
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
            strcmp(elf_symbol_name(&image->object, &symbol), JIT_KERNEL_SYMBOL) != 0)
            continue;
        uint64_t address;
        enum pxr_status status = symbol_address(image, i, &address, err);
        if (status != PXR_OK)
            return status;
        if (image->uses[i].is_external || image->kinds[symbol.st_shndx] != SECTION_TEXT ||
            symbol.st_value >= image->object.sections[symbol.st_shndx].sh_size)
            break;
        *entry = (jit_kernel_fn)(uintptr_t)address;
        return PXR_OK;
    }
    return pxr_fail(err, PXR_COMPILE_FAILED, "the compiled code has no function '%s'",
                    JIT_KERNEL_SYMBOL);
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
    enum pxr_status status = symbol_address(image, reloc->symbol, &address, err);
    if (status != PXR_OK)
        return status;
    address += (uint64_t)reloc->addend;
    memcpy(copy->bytes + reloc->offset, &address, sizeof address);
    return PXR_OK;
}

static enum pxr_status load_lines(struct image *image, struct jit_lines *lines,
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

static enum pxr_status protect(struct image *image, struct pxr_error *err)
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

static enum pxr_status map_image(struct image *image, struct pxr_error *err)
{
    if (!pxr_area_map(&image->area, image->total_bytes))
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no address space for compiled code");
    image->map = image->area.base;
    for (uint32_t i = 0; i < image->object.section_count; i++) {
        const Elf64_Shdr *section = &image->object.sections[i];
        if (image->kinds[i] != SECTION_SKIPPED)
            memcpy(image->map + image->section_offsets[i], image->object.bytes + section->sh_offset,
                   section->sh_size);
    }
    return PXR_OK;
}

/* Headers, symbols and layout; no mapping yet. */
static enum pxr_status plan_image(struct image *image, struct pxr_error *err)
{
    const struct elf_object *object = &image->object;
    if (object->machine != image->arch->machine)
        return pxr_fail(err, PXR_COMPILE_FAILED, "the compiled code is for another processor");
    image->kinds = calloc(object->section_count, sizeof *image->kinds);
    image->section_offsets = calloc(object->section_count, sizeof *image->section_offsets);
    image->uses = calloc(object->symbol_count + 1, sizeof *image->uses);
    if (!image->kinds || !image->section_offsets || !image->uses)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory to load compiled code");
    for (uint32_t i = 0; i < object->section_count; i++) {
        image->section_offsets[i] = NOT_PLACED;
        enum pxr_status status = classify_section(object, i, &image->kinds[i], err);
        if (status != PXR_OK)
            return status;
    }
    enum pxr_status status = check_symbols(image, err);
    if (status == PXR_OK)
        status = each_loaded_reloc(image, note_reloc, err);
    if (status == PXR_OK)
        status = place_image(image, err);
    return status;
}

static enum pxr_status load_image(struct image *image, struct jit_code *code, struct pxr_error *err)
{
    enum pxr_status status = plan_image(image, err);
    if (status == PXR_OK)
        status = map_image(image, err);
    if (status == PXR_OK)
        status = each_loaded_reloc(image, apply_reloc, err);
    if (status == PXR_OK)
        status = fill_slots(image, err);
    if (status == PXR_OK)
        status = find_entry(image, &code->entry, err);
    if (status == PXR_OK)
        status = protect(image, err);
    if (status == PXR_OK)
        status = load_lines(image, &code->lines, err);
    return status;
}

static void copy_properties(struct jit_code *code, const struct jit_object *object)
{
    code->is_fused = pxr_collapse_is_fused(object->collapse);
    code->may_wait = object->may_wait;
    code->frame_fixed_bytes = object->frame_fixed_bytes;
    code->frame_warp_bytes = object->frame_warp_bytes;
    code->frame_thread_bytes = object->frame_thread_bytes;
}

enum pxr_status jit_load(const struct jit_object *object, const char *kernel_name,
                         const struct jit_symbol *extra, size_t extra_count, struct jit_code **code,
                         struct pxr_error *err)
{
    *code = NULL;
    struct image image = {.arch = reloc_arch_host(), .extra = extra, .extra_count = extra_count};
    enum pxr_status status = elf_object_init(&image.object, object->bytes, object->size_bytes, err);
    if (status != PXR_OK)
        goto name_kernel;
    struct jit_code *loaded = calloc(1, sizeof *loaded);
    if (loaded) {
        status = load_image(&image, loaded, err);
        loaded->map = image.map;
        loaded->area = image.area;
        loaded->text_bytes = image.text_bytes;
        copy_properties(loaded, object);
    } else {
        status = pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory to load compiled code");
    }
    if (status == PXR_OK)
        *code = loaded;
    else
        jit_unload(loaded);
    free(image.kinds);
    free(image.section_offsets);
    free(image.uses);
    elf_object_fini(&image.object);
name_kernel:
    if (status != PXR_OK)
        pxr_error_prefix(err, "kernel '%s'", kernel_name);
    return status;
}

void jit_unload(struct jit_code *code)
{
    if (!code)
        return;
    pxr_area_unmap(&code->area);
    jit_lines_fini(&code->lines);
    free(code);
}

jit_kernel_fn jit_code_entry(const struct jit_code *code)
{
    return code->is_fused ? NULL : code->entry;
}

rt_fused_fn jit_code_fused(const struct jit_code *code)
{
    return code->is_fused ? (rt_fused_fn)(void (*)(void))code->entry : NULL;
}

uint64_t jit_code_frame_bytes(const struct jit_code *code, uint32_t threads)
{
    if (!code->is_fused)
        return 0;
    uint64_t warps = (threads + RT_WARP_SIZE - 1) / RT_WARP_SIZE;
    return code->frame_fixed_bytes +
           warps * (code->frame_warp_bytes + RT_WARP_SIZE * code->frame_thread_bytes);
}

_Atomic(uint32_t) *jit_code_pace(struct jit_code *code)
{
    return &code->pace;
}

bool jit_code_may_wait(const struct jit_code *code)
{
    return code->may_wait;
}

int jit_code_line(const struct jit_code *code, uintptr_t pc)
{
    if (pc - (uintptr_t)code->map >= code->text_bytes)
        return 0;
    return (int)jit_lines_find(&code->lines, pc);
}
