/* SPDX-License-Identifier: Apache-2.0
 *
 * An executable or library as its bytes: for what machine it is, and what it tells the dynamic
 * loader. Every field is untrusted; what is not inside the file is not there.
 */
#ifndef PTXRUN_TOOLS_ELF_FILE_H
#define PTXRUN_TOOLS_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file {
    const uint8_t *bytes; /* mapped; NULL: the file cannot be read, or is no ELF file */
    size_t size_bytes;
};

/* The headers may be those of any machine. The caller calls elf_file_close in any case. */
void elf_file_open(const char *path, struct elf_file *file);
void elf_file_close(struct elf_file *file);

/* e_machine, in whatever order its bytes are. */
unsigned elf_file_machine(const struct elf_file *file);

/* Whether the rest can be read: 64 bits, in the order of this machine. */
bool elf_file_is_native(const struct elf_file *file);

/* ---- of a native file ---- */

/* ET_EXEC, ET_DYN, … */
unsigned elf_file_type(const struct elf_file *file);

/* The path in PT_INTERP (malloc); NULL if there is none. */
char *elf_file_loader(const struct elf_file *file);

/* Calls visit with each entry of the dynamic section up to its end; text: the string that it names
 * if its value is one, else "". */
void elf_file_visit_dynamic(const struct elf_file *file,
                            void (*visit)(void *user, int64_t tag, const char *text), void *user);

#endif
