/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the parts of a program's ELF headers that concern the loading of libraries.
 */
#ifndef PTXRUN_TOOLS_TARGET_ELF_H
#define PTXRUN_TOOLS_TARGET_ELF_H

#include <stdbool.h>

#include "util/error.h"

enum { TARGET_MAX_CUDART = 4, TARGET_MAX_VENDOR = 16 };

struct target_elf {
    char *directory; /* of the program, for $ORIGIN */
    char *loader;    /* PT_INTERP, NULL if there is none */
    char *rpath;     /* DT_RPATH, only if it counts: a DT_RUNPATH switches it off */
    char *runpath;
    char *cudart[TARGET_MAX_CUDART]; /* libcudart libraries it names as needed */
    unsigned cudart_count;
    char *vendor[TARGET_MAX_VENDOR]; /* closed libraries (util/vendor.h) it names as needed */
    unsigned vendor_count;
    bool is_static; /* a program without a dynamic loader */
};

/* Errors: PXR_UNSUPPORTED (made for another machine), PXR_BAD_IMAGE (truncated), PXR_OUT_OF_MEMORY.
 * A file that cannot be read or is damaged otherwise counts as one without properties: the kernel
 * will say what is wrong.
 * The caller calls target_elf_fini in any case. */
enum pxr_status target_elf_read(const char *path, struct target_elf *elf, struct pxr_error *err);
void target_elf_fini(struct target_elf *elf);

/* Path of the library in a directory of DT_RPATH, which the loader searches before
 * LD_LIBRARY_PATH; NULL if it is in none. The caller frees it. */
char *target_elf_find_in_rpath(const struct target_elf *elf, const char *library);

/* The first closed library it needs that the loader will not find; NULL if it finds all. search is
 * the loader's LD_LIBRARY_PATH, or NULL. */
const char *target_elf_missing_vendor(const struct target_elf *elf, const char *search);

/* The first libcudart it needs that the loader will find neither there nor in cudart_directory,
 * which may be NULL; NULL if it finds all. */
const char *target_elf_missing_cudart(const struct target_elf *elf, const char *search,
                                      const char *cudart_directory);

/* Whether the program would look for a libcudart in vain without cudart_directory. A program that
 * names none may still load one later: then each that the directory offers has to be found
 * elsewhere. LD_LIBRARY_PATH need not be considered, as it is searched first anyway. */
bool target_elf_lacks_cudart(const struct target_elf *elf, const char *cudart_directory);

/* Whether it names this libcudart itself. */
bool target_elf_names_cudart(const struct target_elf *elf, const char *library);

/* Whether the loader would find a library for the program without LD_LIBRARY_PATH. */
bool target_elf_finds(const struct target_elf *elf, const char *library);

#endif
