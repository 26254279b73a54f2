/* SPDX-License-Identifier: Apache-2.0
 *
 * See elf_file.h.
 */
#include "tools/elf_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE_ORDER ELFDATA2LSB
#else
#define NATIVE_ORDER ELFDATA2MSB
#endif

/* ---- the file ---- */

void elf_file_close(struct elf_file *file)
{
    if (file->bytes)
        munmap((void *)(uintptr_t)file->bytes, file->size_bytes);
    *file = (struct elf_file){0};
}

void elf_file_open(const char *path, struct elf_file *file)
{
    struct stat status;
    *file = (struct elf_file){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        (size_t)status.st_size >= sizeof(Elf32_Ehdr)) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED)
            *file = (struct elf_file){bytes, (size_t)status.st_size};
    }
    close(fd);
    if (file->bytes && memcmp(file->bytes, ELFMAG, SELFMAG) != 0)
        elf_file_close(file);
}

/* ---- headers ---- */

unsigned elf_file_machine(const struct elf_file *file)
{
    const uint8_t *at = file->bytes + offsetof(Elf32_Ehdr, e_machine);
    bool is_big = file->bytes[EI_DATA] == ELFDATA2MSB;
    return is_big ? at[0] << 8u | at[1] : at[1] << 8u | at[0];
}

bool elf_file_is_native(const struct elf_file *file)
{
    return file->bytes[EI_CLASS] == ELFCLASS64 && file->bytes[EI_DATA] == NATIVE_ORDER &&
           file->size_bytes >= sizeof(Elf64_Ehdr);
}

/* Copies count bytes at an offset; false if they are not in the file. */
static bool read_bytes(const struct elf_file *file, uint64_t offset, void *out, size_t count)
{
    if (offset > file->size_bytes || count > file->size_bytes - offset)
        return false;
    memcpy(out, file->bytes + offset, count);
    return true;
}

static Elf64_Ehdr header_of(const struct elf_file *file)
{
    Elf64_Ehdr header;
    memcpy(&header, file->bytes, sizeof header);
    return header;
}

unsigned elf_file_type(const struct elf_file *file)
{
    return header_of(file).e_type;
}

/* The number-th program header; false behind the last. */
static bool read_segment(const struct elf_file *file, unsigned number, Elf64_Phdr *segment)
{
    Elf64_Ehdr header = header_of(file);
    uint64_t offset;
    return number < header.e_phnum && header.e_phentsize == sizeof *segment &&
           !__builtin_add_overflow(header.e_phoff, (uint64_t)number * sizeof *segment, &offset) &&
           read_bytes(file, offset, segment, sizeof *segment);
}

/* The first segment of a type whose bytes are in the file. */
static bool find_segment(const struct elf_file *file, uint32_t type, Elf64_Phdr *found)
{
    for (unsigned i = 0; read_segment(file, i, found); i++)
        if (found->p_type == type)
            return found->p_offset <= file->size_bytes &&
                   found->p_filesz <= file->size_bytes - found->p_offset;
    return false;
}

char *elf_file_loader(const struct elf_file *file)
{
    Elf64_Phdr segment;
    if (!find_segment(file, PT_INTERP, &segment))
        return NULL;
    return strndup((const char *)file->bytes + segment.p_offset, segment.p_filesz);
}

/* ---- the dynamic section ---- */

/* Where the bytes are that are loaded at an address. */
static bool find_address(const struct elf_file *file, uint64_t address, uint64_t *offset)
{
    Elf64_Phdr segment;
    for (unsigned i = 0; read_segment(file, i, &segment); i++) {
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz)
            return !__builtin_add_overflow(segment.p_offset, address - segment.p_vaddr, offset);
    }
    return false;
}

struct dynamic {
    uint64_t offset;
    uint64_t count;
};

/* The next entry; false at the end. */
static bool read_entry(const struct elf_file *file, const struct dynamic *dynamic, uint64_t number,
                       Elf64_Dyn *entry)
{
    return number < dynamic->count &&
           read_bytes(file, dynamic->offset + number * sizeof *entry, entry, sizeof *entry) &&
           entry->d_tag != DT_NULL;
}

/* The string at an offset of the table; "" if it does not end inside the file. */
static const char *text_at(const struct elf_file *file, uint64_t table, uint64_t offset)
{
    uint64_t at;
    if (__builtin_add_overflow(table, offset, &at) || at >= file->size_bytes)
        return "";
    const char *text = (const char *)file->bytes + at;
    return memchr(text, 0, file->size_bytes - at) ? text : "";
}

static bool names_text(int64_t tag)
{
    return tag == DT_NEEDED || tag == DT_SONAME || tag == DT_RPATH || tag == DT_RUNPATH;
}

void elf_file_visit_dynamic(const struct elf_file *file,
                            void (*visit)(void *user, int64_t tag, const char *text), void *user)
{
    Elf64_Phdr segment;
    Elf64_Dyn entry;
    uint64_t table = UINT64_MAX;
    if (!find_segment(file, PT_DYNAMIC, &segment))
        return;
    const struct dynamic dynamic = {segment.p_offset, segment.p_filesz / sizeof entry};
    for (uint64_t i = 0; read_entry(file, &dynamic, i, &entry); i++)
        if (entry.d_tag == DT_STRTAB && !find_address(file, entry.d_un.d_ptr, &table))
            table = UINT64_MAX;
    for (uint64_t i = 0; read_entry(file, &dynamic, i, &entry); i++)
        visit(user, entry.d_tag,
              names_text(entry.d_tag) ? text_at(file, table, entry.d_un.d_val) : "");
}
