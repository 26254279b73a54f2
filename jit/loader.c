/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads an object without LLVM: one mapping with text and stubs, then constants and address slots.
 */
#include "jit/loader.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "jit/code_image.h"

#define SLOT_BYTES 8

/* Gives every section of one kind its place. Object sizes bound the sum well below 2^64. */
static void place_sections(struct image *image, enum section_kind kind, uint64_t *offset)
{
    for (uint32_t i = 0; i < image->object.section_count; i++) {
        if (image->kinds[i] != kind)
            continue;
        *offset = image_align(*offset, image->object.sections[i].sh_addralign);
        image->section_offsets[i] = *offset;
        *offset += image->object.sections[i].sh_size;
    }
}

/* Stubs follow the text, slots the constants. */
static void place_image(struct image *image, uint64_t *text_bytes, uint64_t *rest_bytes)
{
    uint64_t offset = IMAGE_TEXT_LEAD_BYTES;
    place_sections(image, SECTION_TEXT, &offset);
    offset = image_align(offset, image->arch->stub_bytes);
    for (uint32_t i = 0; i < image->object.symbol_count; i++) {
        if (!image->uses[i].needs_stub)
            continue;
        image->uses[i].stub = offset;
        offset += image->arch->stub_bytes;
    }
    *text_bytes = offset;
    uint64_t rest = image_align(offset, (uint64_t)sysconf(_SC_PAGESIZE));
    offset = rest;
    place_sections(image, SECTION_CONSTANTS, &offset);
    offset = image_align(offset, SLOT_BYTES);
    for (uint32_t i = 0; i < image->object.symbol_count; i++) {
        if (!image->uses[i].needs_slot)
            continue;
        image->uses[i].slot = offset;
        offset += SLOT_BYTES;
    }
    *rest_bytes = offset - rest;
}

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
        enum pxr_status status = image_symbol_address(image, reloc->symbol, &target, err);
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

static enum pxr_status fill_slots(struct image *image, struct pxr_error *err)
{
    uint64_t base = (uint64_t)(uintptr_t)image->map;
    for (uint32_t i = 0; i < image->object.symbol_count; i++) {
        const struct symbol_use *use = &image->uses[i];
        if (!use->needs_slot)
            continue;
        uint64_t address;
        enum pxr_status status = image_symbol_address(image, i, &address, err);
        if (status != PXR_OK)
            return status;
        memcpy(image->map + use->slot, &address, sizeof address);
        if (use->needs_stub)
            image->arch->write_stub(image->map + use->stub, base + use->stub, base + use->slot);
    }
    return PXR_OK;
}

static void copy_sections(struct image *image)
{
    for (uint32_t i = 0; i < image->object.section_count; i++) {
        const Elf64_Shdr *section = &image->object.sections[i];
        if (image->kinds[i] != SECTION_SKIPPED)
            memcpy(image->map + image->section_offsets[i], image->object.bytes + section->sh_offset,
                   section->sh_size);
    }
}

static enum pxr_status place_and_map(struct image *image, struct pxr_error *err)
{
    uint64_t text_bytes, rest_bytes;
    place_image(image, &text_bytes, &rest_bytes);
    return image_map(image, text_bytes, rest_bytes, err);
}

static enum pxr_status load(struct image *image, struct jit_code *code, struct pxr_error *err)
{
    enum pxr_status status = place_and_map(image, err);
    if (status != PXR_OK)
        return status;
    copy_sections(image);
    uint64_t entry = 0;
    status = image_each_reloc(image, apply_reloc, image, err);
    if (status == PXR_OK)
        status = fill_slots(image, err);
    if (status == PXR_OK)
        status = image_symbol_address(image, image->kernel, &entry, err);
    if (status == PXR_OK)
        status = image_protect(image, err);
    if (status == PXR_OK)
        status = image_load_lines(image, &code->lines, err);
    code->entry = (jit_kernel_fn)(uintptr_t)entry;
    code->area = image->area;
    code->text_bytes = image->text_bytes;
    return status;
}

enum pxr_status jit_loader_load(const struct jit_loading *loading, const struct jit_object *object,
                                struct jit_code *code, struct pxr_error *err)
{
    struct image image;
    enum pxr_status status = image_init(&image, object, loading->extra, loading->extra_count, err);
    if (status == PXR_OK)
        status = load(&image, code, err);
    image_fini(&image);
    if (status != PXR_OK)
        pxr_error_prefix(err, "kernel '%s'", loading->kernel);
    return status;
}
