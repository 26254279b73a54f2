/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading by ORC, from the side of libptxrun.so: ORC relocates and tells debuggers; what an object
 * may hold, where it lies and what can be done to its memory is decided here, as for the loader
 * without LLVM.
 */
#include <elf.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/code_image.h"
#include "jit/loader.h"
#include "jit/symbols.h"
#include "util/options.h"

/* LLVM puts at most so much behind a section for each relocation in it: a jump to a function far
 * away; and one address for each symbol. */
#define STUB_BYTES_MAX 32
#define STUB_ALIGNMENT 64
#define SLOT_BYTES     8

struct orc_loading {
    const struct jit_loading *loading;
    struct jit_object *object;
    struct jit_code *code;
    struct image image;
    bool is_compiled;  /* the object was there; then it is in image */
    uint64_t text_end; /* of what has been given away; offsets in the image */
    uint64_t rest_end;
    char *symbol; /* malloc */
};

/* ---- the name ---- */

/* "_Z3addPf.12": names that end so are taken for a copy of the function, and shown as such. */
static char *symbol_name(const char *kernel)
{
    static atomic_uint_fast64_t last;
    unsigned long long number = atomic_fetch_add(&last, 1) + 1;
    char *name = NULL;
    return asprintf(&name, "%s.%llu", kernel, number) < 0 ? NULL : name;
}

/* A copy of the object in which the kernel has the name: the names of symbols move to its end, with
 * this one behind them. */
static enum pxr_status rename_kernel(const struct image *image, const char *name, uint8_t **bytes,
                                     size_t *size_bytes, struct pxr_error *err)
{
    const struct elf_object *object = &image->object;
    size_t name_bytes = strlen(name) + 1;
    size_t names_bytes = object->symbol_names_bytes;
    *size_bytes = object->size_bytes + names_bytes + name_bytes;
    *bytes = malloc(*size_bytes);
    if (!*bytes)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory to load compiled code");
    memcpy(*bytes, object->bytes, object->size_bytes);
    memcpy(*bytes + object->size_bytes, object->symbol_names, names_bytes);
    memcpy(*bytes + object->size_bytes + names_bytes, name, name_bytes);

    Elf64_Ehdr header;
    memcpy(&header, *bytes, sizeof header);
    const Elf64_Shdr *symbols = &object->sections[object->symbol_section];
    Elf64_Shdr names = object->sections[symbols->sh_link];
    names.sh_offset = object->size_bytes;
    names.sh_size = names_bytes + name_bytes;
    memcpy(*bytes + header.e_shoff + symbols->sh_link * sizeof names, &names, sizeof names);
    Elf64_Sym kernel = elf_symbol(object, image->kernel);
    kernel.st_name = (Elf64_Word)names_bytes;
    memcpy(*bytes + symbols->sh_offset + image->kernel * sizeof kernel, &kernel, sizeof kernel);
    return PXR_OK;
}

/* ---- memory ---- */

static enum pxr_status count_reloc(void *argument, uint32_t section, const struct elf_reloc *reloc,
                                   struct pxr_error *err)
{
    (void)reloc;
    (void)err;
    struct orc_loading *orc = argument;
    bool is_text = orc->image.kinds[section] == SECTION_TEXT;
    *(is_text ? &orc->text_end : &orc->rest_end) += STUB_BYTES_MAX;
    return PXR_OK;
}

/* Memory for all that LLVM may ask for. */
static enum pxr_status map(struct orc_loading *orc, struct pxr_error *err)
{
    struct image *image = &orc->image;
    orc->text_end = IMAGE_TEXT_LEAD_BYTES;
    orc->rest_end = (uint64_t)SLOT_BYTES * (image->object.symbol_count + 1);
    for (uint32_t i = 0; i < image->object.section_count; i++) {
        const Elf64_Shdr *section = &image->object.sections[i];
        uint64_t bytes = section->sh_size + section->sh_addralign + 2 * STUB_ALIGNMENT;
        if (image->kinds[i] != SECTION_SKIPPED)
            *(image->kinds[i] == SECTION_TEXT ? &orc->text_end : &orc->rest_end) += bytes;
    }
    enum pxr_status status = image_each_reloc(image, count_reloc, orc, err);
    if (status == PXR_OK)
        status = image_map(image, orc->text_end, orc->rest_end, err);
    orc->code->area = image->area;
    orc->code->text_bytes = image->text_bytes;
    orc->text_end = IMAGE_TEXT_LEAD_BYTES;
    orc->rest_end = image->text_bytes;
    return status;
}

/* LLVM tells of a section its name and its size with stubs. What has neither is LLVM's own. */
static void note_place(struct image *image, const char *name, size_t size_bytes, uint64_t offset)
{
    for (uint32_t i = 0; i < image->object.section_count; i++) {
        if (image->kinds[i] == SECTION_SKIPPED || image->section_offsets[i] != IMAGE_NOT_PLACED ||
            image->object.sections[i].sh_size > size_bytes ||
            strcmp(elf_section_name(&image->object, i), name) != 0)
            continue;
        image->section_offsets[i] = offset;
        return;
    }
}

static uint8_t *allocate(void *argument, const char *section, size_t size_bytes, size_t alignment,
                         bool is_text)
{
    struct orc_loading *orc = argument;
    uint64_t *end = is_text ? &orc->text_end : &orc->rest_end;
    uint64_t limit = is_text ? orc->image.text_bytes : orc->image.total_bytes;
    uint64_t offset = image_align(*end, alignment);
    if (offset > limit || size_bytes > limit - offset)
        return NULL;
    *end = offset + size_bytes;
    note_place(&orc->image, section, size_bytes, offset);
    return orc->image.map + offset;
}

static bool protect(void *argument)
{
    struct orc_loading *orc = argument;
    return image_protect(&orc->image, NULL) == PXR_OK;
}

/* ---- the whole ---- */

static enum pxr_status admit(void *argument, uint8_t **bytes, size_t *size_bytes,
                             struct pxr_error *err)
{
    struct orc_loading *orc = argument;
    const struct jit_loading *loading = orc->loading;
    if (!orc->is_compiled && loading->keep)
        loading->keep(loading->keep_argument, orc->object);
    orc->is_compiled = true;
    enum pxr_status status =
        image_init(&orc->image, orc->object, loading->extra, loading->extra_count, err);
    if (status == PXR_OK)
        status = map(orc, err);
    if (status == PXR_OK)
        status = rename_kernel(&orc->image, orc->symbol, bytes, size_bytes, err);
    return status;
}

static enum pxr_status link_it(const struct jit_compiler *compiler, struct orc_loading *orc,
                               const struct jit_request *request, struct pxr_error *err)
{
    struct jit_link link = {.symbol = orc->symbol,
                            .owner = orc->loading->owner,
                            .request = request,
                            .object = orc->object,
                            .extra = orc->loading->extra,
                            .extra_count = orc->loading->extra_count,
                            .writes_jitdump = pxr_options_get()->profile == PXR_PROFILE_PERF,
                            .host_argument = orc,
                            .admit = admit,
                            .allocate = allocate,
                            .protect = protect};
    link.whitelist = jit_symbol_table(&link.whitelist_count);
    if (!link.symbol || !link.whitelist)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory to load compiled code");
    uint64_t address;
    struct jit_code *code = orc->code;
    enum pxr_status status = compiler->link(&link, &code->linked, &address, err);
    if (status != PXR_OK)
        return status;
    code->compiler = compiler;
    code->entry = (jit_kernel_fn)(uintptr_t)address;
    return image_load_lines(&orc->image, &code->lines, err);
}

enum pxr_status jit_orc_load(const struct jit_compiler *compiler, const struct jit_loading *loading,
                             const struct jit_request *request, struct jit_object *object,
                             struct jit_code *code, struct pxr_error *err)
{
    struct orc_loading orc = {.loading = loading,
                              .object = object,
                              .code = code,
                              .is_compiled = request == NULL,
                              .symbol = symbol_name(loading->kernel)};
    enum pxr_status status = link_it(compiler, &orc, request, err);
    if (status != PXR_OK && orc.is_compiled)
        pxr_error_prefix(err, "kernel '%s'", loading->kernel);
    image_fini(&orc.image);
    free(orc.symbol);
    return status;
}
