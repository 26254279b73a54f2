/* SPDX-License-Identifier: Apache-2.0
 *
 * A relocatable ELF64 file in memory, read with every offset checked, as the bytes may come from
 * outside the process. Knows nothing of memory mappings.
 */
#ifndef PTXRUN_JIT_ELF_OBJECT_H
#define PTXRUN_JIT_ELF_OBJECT_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct elf_object {
    const uint8_t *bytes; /* the caller's */
    size_t size_bytes;
    uint16_t machine; /* EM_… */
    uint32_t section_count;
    Elf64_Shdr *sections; /* copies; offset and size of each (but NOBITS) lie inside bytes */
    const char *section_names;
    size_t section_names_bytes;
    uint32_t symbol_section; /* index of the symbol table */
    uint32_t symbol_count;
    const uint8_t *symbols;
    const char *symbol_names;
    size_t symbol_names_bytes;
};

/* Reads the headers; tables of relocations have to be of the form with explicit addends. Errors:
 * PXR_COMPILE_FAILED with the defect, PXR_OUT_OF_MEMORY. */
enum pxr_status elf_object_init(struct elf_object *object, const uint8_t *bytes, size_t size_bytes,
                                struct pxr_error *err);
void elf_object_fini(struct elf_object *object);

/* "" where the name's offset is bad. */
const char *elf_section_name(const struct elf_object *object, uint32_t section);
const char *elf_symbol_name(const struct elf_object *object, const Elf64_Sym *symbol);

/* index < symbol_count */
Elf64_Sym elf_symbol(const struct elf_object *object, uint32_t index);

/* The section of this name with contents, or 0. */
uint32_t elf_find_section(const struct elf_object *object, const char *name);

/* One relocation whose place and symbol have been checked to exist. */
struct elf_reloc {
    uint64_t offset; /* in the section */
    uint32_t type;
    uint32_t symbol;
    int64_t addend;
};

typedef enum pxr_status (*elf_reloc_fn)(void *argument, uint32_t section,
                                        const struct elf_reloc *reloc, struct pxr_error *err);

/* Calls fn for each relocation of this section (of every table that applies to it) until one
 * fails. */
enum pxr_status elf_each_reloc(const struct elf_object *object, uint32_t section, elf_reloc_fn fn,
                               void *argument, struct pxr_error *err);

#endif
