/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the sections that hold fat binaries in executables, shared objects, object files and
 * static archives. Needs section names only, no relocations and no symbols.
 */
#ifndef PTXRUN_PTX_ELF_H
#define PTXRUN_PTX_ELF_H

#include "ptx/fatbin.h"

/* The name of the sections that hold PTX in cubins of ours, ptx/cubin.h. */
#define PTX_CUBIN_SECTION ".ptxrun.ptx"

/* One section with fat binary containers, back to back, or with a PTX text. */
struct ptx_elf_section {
    const char *name;   /* static storage */
    const char *member; /* of an archive; NULL elsewhere. Valid during the visit */
    size_t offset;      /* in the file */
    struct ptx_span bytes;
};

/* Called for each section in file order; any status but PXR_OK ends the walk and is its result. */
typedef enum pxr_status (*ptx_elf_visit_fn)(void *user, const struct ptx_elf_section *section,
                                            struct pxr_error *err);

enum ptx_elf_type {
    PTX_ELF_NONE,
    PTX_ELF_EXECUTABLE,
    PTX_ELF_SHARED,
    PTX_ELF_OBJECT,
    PTX_ELF_ARCHIVE
};

/* The kind of a file, by its first bytes. A position-independent executable counts as shared. */
enum ptx_elf_type ptx_elf_type(struct ptx_span file);

/* Walks a whole ELF file or archive; label names it in messages. A file without such sections is
 * fine. Errors: PXR_BAD_IMAGE, PXR_OUT_OF_MEMORY, and those of visit. Thread-safe. */
enum pxr_status ptx_elf_visit_fatbins(struct ptx_span file, const char *label,
                                      ptx_elf_visit_fn visit, void *user, struct pxr_error *err);

/* The same for the texts in a cubin that ptx_cubin_make has made; no other has any. */
enum pxr_status ptx_elf_visit_ptx(struct ptx_span cubin, const char *label, ptx_elf_visit_fn visit,
                                  void *user, struct pxr_error *err);

#endif
