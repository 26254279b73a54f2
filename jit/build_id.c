/* SPDX-License-Identifier: Apache-2.0
 *
 * See build_id.h.
 */
#include "jit/build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

/* Program headers and notes are at the beginning of a library. */
#define FILE_BYTES 8192

static size_t align_up(size_t value, size_t align)
{
    return (value + align - 1) & ~(align - 1);
}

/* Looks through a segment of notes. */
static bool find_note(const uint8_t *notes, size_t size_bytes, size_t align,
                      struct jit_build_id *id)
{
    ElfW(Nhdr) head;
    size_t step = align == 8 ? 8 : 4;
    for (size_t at = 0; at + sizeof head <= size_bytes;) {
        memcpy(&head, notes + at, sizeof head);
        size_t name = at + sizeof head;
        size_t content = align_up(name + head.n_namesz, step);
        if (content > size_bytes || head.n_descsz > size_bytes - content)
            return false;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof ELF_NOTE_GNU &&
            memcmp(notes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0 && head.n_descsz > 0 &&
            head.n_descsz <= JIT_BUILD_ID_BYTES) {
            id->count = head.n_descsz;
            memcpy(id->bytes, notes + content, head.n_descsz);
            return true;
        }
        at = align_up(content + head.n_descsz, step);
    }
    return false;
}

/* ---- of a file ---- */

static bool find_in_file(const uint8_t *bytes, size_t size_bytes, struct jit_build_id *id)
{
    ElfW(Ehdr) file;
    ElfW(Phdr) segment;
    if (size_bytes < sizeof file)
        return false;
    memcpy(&file, bytes, sizeof file);
    if (memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_phentsize != sizeof segment)
        return false;
    for (size_t i = 0; i < file.e_phnum; i++) {
        size_t at = file.e_phoff + i * sizeof segment;
        if (file.e_phoff > size_bytes || at + sizeof segment > size_bytes)
            return false;
        memcpy(&segment, bytes + at, sizeof segment);
        if (segment.p_type == PT_NOTE && segment.p_offset <= size_bytes &&
            segment.p_filesz <= size_bytes - segment.p_offset &&
            find_note(bytes + segment.p_offset, segment.p_filesz, segment.p_align, id))
            return true;
    }
    return false;
}

bool jit_build_id_of_file(const char *path, struct jit_build_id *id)
{
    _Alignas(8) uint8_t bytes[FILE_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = pread(fd, bytes, sizeof bytes, 0);
    close(fd);
    return got > 0 && find_in_file(bytes, (size_t)got, id);
}

/* ---- of what is loaded ---- */

struct search {
    uintptr_t address;
    struct jit_build_id *id;
};

static bool contains(const struct dl_phdr_info *object, uintptr_t address)
{
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && address >= begin && address - begin < segment->p_memsz)
            return true;
    }
    return false;
}

/* 1: found; -1: it has none; 0: another object. */
static int look_at(struct dl_phdr_info *object, size_t size, void *argument)
{
    (void)size;
    const struct search *search = argument;
    if (!contains(object, search->address))
        return 0;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE &&
            find_note((const uint8_t *)(object->dlpi_addr + segment->p_vaddr), segment->p_memsz,
                      segment->p_align, search->id))
            return 1;
    }
    return -1;
}

bool jit_build_id_of_address(const void *address, struct jit_build_id *id)
{
    struct search search = {(uintptr_t)address, id};
    return dl_iterate_phdr(look_at, &search) == 1;
}

bool jit_build_id_equal(const struct jit_build_id *a, const struct jit_build_id *b)
{
    return a->count == b->count && memcmp(a->bytes, b->bytes, a->count) == 0;
}
