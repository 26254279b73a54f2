/* SPDX-License-Identifier: Apache-2.0
 *
 * Checked reading of relocatable ELF64 files.
 */
#include "jit/elf_object.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SECTION_COUNT_MAX 65000

static enum pxr_status corrupt(struct pxr_error *err, const char *what)
{
    return pxr_fail(err, PXR_COMPILE_FAILED, "the object file is damaged: %s", what);
}

static bool is_inside(const struct elf_object *object, uint64_t offset, uint64_t size_bytes)
{
    return offset <= object->size_bytes && size_bytes <= object->size_bytes - offset;
}

static enum pxr_status read_header(struct elf_object *object, Elf64_Ehdr *header,
                                   struct pxr_error *err)
{
    if (object->size_bytes < sizeof *header)
        return corrupt(err, "no ELF header");
    memcpy(header, object->bytes, sizeof *header);
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_ident[EI_VERSION] != EV_CURRENT)
        return corrupt(err, "not a little-endian ELF64 file");
    if (header->e_type != ET_REL)
        return corrupt(err, "not a relocatable file");
    if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum == 0 ||
        header->e_shnum > SECTION_COUNT_MAX || header->e_shstrndx >= header->e_shnum)
        return corrupt(err, "section headers of an unknown form");
    if (!is_inside(object, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
        return corrupt(err, "section headers beyond its end");
    return PXR_OK;
}

static enum pxr_status check_section(const struct elf_object *object, const Elf64_Shdr *section,
                                     struct pxr_error *err)
{
    if (section->sh_type == SHT_NULL)
        return PXR_OK;
    if (section->sh_type != SHT_NOBITS && !is_inside(object, section->sh_offset, section->sh_size))
        return corrupt(err, "a section beyond its end");
    if (section->sh_addralign & (section->sh_addralign - 1))
        return corrupt(err, "a section alignment that is no power of two");
    return PXR_OK;
}

/* A table of strings must end in NUL, so that any offset inside it is a string. */
static enum pxr_status read_strings(const struct elf_object *object, uint32_t index,
                                    const char **text, size_t *size_bytes, struct pxr_error *err)
{
    if (index >= object->section_count || object->sections[index].sh_type != SHT_STRTAB)
        return corrupt(err, "no string table");
    const Elf64_Shdr *section = &object->sections[index];
    if (section->sh_size == 0 || object->bytes[section->sh_offset + section->sh_size - 1] != '\0')
        return corrupt(err, "an unterminated string table");
    *text = (const char *)object->bytes + section->sh_offset;
    *size_bytes = section->sh_size;
    return PXR_OK;
}

static enum pxr_status read_symbol_table(struct elf_object *object, struct pxr_error *err)
{
    for (uint32_t i = 1; i < object->section_count; i++) {
        const Elf64_Shdr *section = &object->sections[i];
        if (section->sh_type != SHT_SYMTAB)
            continue;
        if (object->symbol_section != 0)
            return corrupt(err, "two symbol tables");
        if (section->sh_entsize != sizeof(Elf64_Sym) ||
            section->sh_size / sizeof(Elf64_Sym) > UINT32_MAX)
            return corrupt(err, "a symbol table of an unknown form");
        object->symbol_section = i;
        object->symbols = object->bytes + section->sh_offset;
        object->symbol_count = (uint32_t)(section->sh_size / sizeof(Elf64_Sym));
        enum pxr_status status = read_strings(object, section->sh_link, &object->symbol_names,
                                              &object->symbol_names_bytes, err);
        if (status != PXR_OK)
            return status;
    }
    return object->symbol_section ? PXR_OK : corrupt(err, "no symbol table");
}

static enum pxr_status check_reloc_tables(const struct elf_object *object, struct pxr_error *err)
{
    for (uint32_t i = 1; i < object->section_count; i++) {
        const Elf64_Shdr *table = &object->sections[i];
        if (table->sh_type == SHT_REL)
            return corrupt(err, "relocations without addends");
        if (table->sh_type != SHT_RELA)
            continue;
        if (table->sh_entsize != sizeof(Elf64_Rela) || table->sh_link != object->symbol_section)
            return corrupt(err, "relocations of an unknown form");
        if (table->sh_info >= object->section_count)
            return corrupt(err, "relocations of a section that does not exist");
    }
    return PXR_OK;
}

enum pxr_status elf_object_init(struct elf_object *object, const uint8_t *bytes, size_t size_bytes,
                                struct pxr_error *err)
{
    *object = (struct elf_object){.bytes = bytes, .size_bytes = size_bytes};
    Elf64_Ehdr header;
    enum pxr_status status = read_header(object, &header, err);
    if (status != PXR_OK)
        return status;
    object->machine = header.e_machine;
    object->sections = calloc(header.e_shnum, sizeof *object->sections);
    if (!object->sections)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory to load compiled code");
    object->section_count = header.e_shnum;
    memcpy(object->sections, bytes + header.e_shoff, header.e_shnum * sizeof *object->sections);
    for (uint32_t i = 0; i < object->section_count && status == PXR_OK; i++)
        status = check_section(object, &object->sections[i], err);
    if (status == PXR_OK)
        status = read_strings(object, header.e_shstrndx, &object->section_names,
                              &object->section_names_bytes, err);
    if (status == PXR_OK)
        status = read_symbol_table(object, err);
    if (status == PXR_OK)
        status = check_reloc_tables(object, err);
    if (status != PXR_OK)
        elf_object_fini(object);
    return status;
}

void elf_object_fini(struct elf_object *object)
{
    free(object->sections);
    object->sections = NULL;
    object->section_count = 0;
}

const char *elf_section_name(const struct elf_object *object, uint32_t section)
{
    uint32_t offset = object->sections[section].sh_name;
    return offset < object->section_names_bytes ? object->section_names + offset : "";
}

const char *elf_symbol_name(const struct elf_object *object, const Elf64_Sym *symbol)
{
    return symbol->st_name < object->symbol_names_bytes ? object->symbol_names + symbol->st_name
                                                        : "";
}

Elf64_Sym elf_symbol(const struct elf_object *object, uint32_t index)
{
    Elf64_Sym symbol;
    memcpy(&symbol, object->symbols + (size_t)index * sizeof symbol, sizeof symbol);
    return symbol;
}

uint32_t elf_find_section(const struct elf_object *object, const char *name)
{
    for (uint32_t i = 1; i < object->section_count; i++)
        if (object->sections[i].sh_type == SHT_PROGBITS &&
            strcmp(elf_section_name(object, i), name) == 0)
            return i;
    return 0;
}

static enum pxr_status each_entry(const struct elf_object *object, const Elf64_Shdr *table,
                                  uint32_t section, elf_reloc_fn fn, void *argument,
                                  struct pxr_error *err)
{
    uint64_t count = table->sh_size / sizeof(Elf64_Rela);
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Rela entry;
        memcpy(&entry, object->bytes + table->sh_offset + i * sizeof entry, sizeof entry);
        struct elf_reloc reloc = {.offset = entry.r_offset,
                                  .type = (uint32_t)ELF64_R_TYPE(entry.r_info),
                                  .symbol = (uint32_t)ELF64_R_SYM(entry.r_info),
                                  .addend = entry.r_addend};
        if (reloc.symbol >= object->symbol_count ||
            reloc.offset >= object->sections[section].sh_size)
            return corrupt(err, "a relocation of something that does not exist");
        enum pxr_status status = fn(argument, section, &reloc, err);
        if (status != PXR_OK)
            return status;
    }
    return PXR_OK;
}

enum pxr_status elf_each_reloc(const struct elf_object *object, uint32_t section, elf_reloc_fn fn,
                               void *argument, struct pxr_error *err)
{
    for (uint32_t i = 1; i < object->section_count; i++) {
        const Elf64_Shdr *table = &object->sections[i];
        if (table->sh_type != SHT_RELA || table->sh_info != section)
            continue;
        enum pxr_status status = each_entry(object, table, section, fn, argument, err);
        if (status != PXR_OK)
            return status;
    }
    return PXR_OK;
}
