/* SPDX-License-Identifier: Apache-2.0
 *
 * See cubin.h. The file's header, the texts, the names of the sections, the sections' headers.
 */
#include "ptx/cubin.h"

#include <elf.h>
#include <stdlib.h>

#include "ptx/elf.h"

enum {
    ABI_OF_CUDA = 0x41,
    ABI_VERSION = 8, /* architecture in the second byte of the flags */
    ALIGN = 8,
    MAX_TEXTS = 65000 /* more need another way of counting sections */
};

/* Two names, one behind the other; the first section has the empty one. */
static const char NAMES[] = "\0.shstrtab\0" PTX_CUBIN_SECTION;
#define NAME_OF_NAMES 1
#define NAME_OF_PTX   (NAME_OF_NAMES + sizeof ".shstrtab")

/* With a NUL behind the text. */
static size_t stored_bytes(struct ptx_span text)
{
    return (text.len + 1 + ALIGN - 1) / ALIGN * ALIGN;
}

static Elf64_Ehdr file_header(unsigned arch, size_t headers_offset, size_t section_count)
{
    return (Elf64_Ehdr){
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
                    ABI_OF_CUDA, ABI_VERSION},
        .e_type = ET_EXEC,
        .e_machine = EM_CUDA,
        .e_version = EV_CURRENT,
        .e_shoff = headers_offset,
        .e_flags = arch << 8,
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = (Elf64_Half)section_count,
        .e_shstrndx = 1,
    };
}

/* The texts from offset on, and a header for each. */
static size_t put_texts(uint8_t *file, size_t offset, const struct ptx_span *texts, size_t count,
                        Elf64_Shdr *headers)
{
    for (size_t i = 0; i < count; i++) {
        memcpy(file + offset, texts[i].ptr, texts[i].len);
        headers[i] = (Elf64_Shdr){.sh_name = NAME_OF_PTX,
                                  .sh_type = SHT_PROGBITS,
                                  .sh_offset = offset,
                                  .sh_size = texts[i].len + 1,
                                  .sh_addralign = ALIGN};
        offset += stored_bytes(texts[i]);
    }
    return offset;
}

enum pxr_status ptx_cubin_make(const struct ptx_span *texts, size_t text_count, unsigned arch,
                               uint8_t **cubin, size_t *cubin_bytes, struct pxr_error *err)
{
    if (text_count == 0 || text_count > MAX_TEXTS)
        return pxr_fail(err, PXR_INVALID_ARGUMENT, "a cubin of %zu PTX texts", text_count);
    size_t names_bytes = (sizeof NAMES + ALIGN - 1) / ALIGN * ALIGN;
    size_t headers_offset = sizeof(Elf64_Ehdr) + names_bytes;
    for (size_t i = 0; i < text_count; i++)
        headers_offset += stored_bytes(texts[i]);
    size_t section_count = text_count + 2;
    size_t bytes = headers_offset + section_count * sizeof(Elf64_Shdr);
    uint8_t *file = calloc(1, bytes);
    if (!file)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory for a cubin of %zu bytes", bytes);
    Elf64_Ehdr header = file_header(arch, headers_offset, section_count);
    memcpy(file, &header, sizeof header);
    Elf64_Shdr *headers = (Elf64_Shdr *)(void *)(file + headers_offset);
    size_t names_offset = put_texts(file, sizeof header, texts, text_count, headers + 2);
    memcpy(file + names_offset, NAMES, sizeof NAMES);
    headers[1] = (Elf64_Shdr){.sh_name = NAME_OF_NAMES,
                              .sh_type = SHT_STRTAB,
                              .sh_offset = names_offset,
                              .sh_size = sizeof NAMES,
                              .sh_addralign = 1};
    *cubin = file;
    *cubin_bytes = bytes;
    return PXR_OK;
}
