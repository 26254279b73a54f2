/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that may hold PTX: executables, shared objects, object files, static archives, .fatbin,
 * .cubin and .ptx files, opened as one list of fat binary containers.
 */
#ifndef PTXRUN_PTX_FILE_H
#define PTXRUN_PTX_FILE_H

#include "ptx/fatbin.h"

enum ptx_file_kind {
    PTX_FILE_EXECUTABLE,
    PTX_FILE_SHARED_OBJECT, /* or a position-independent executable */
    PTX_FILE_OBJECT,
    PTX_FILE_ARCHIVE,
    PTX_FILE_FATBIN,
    PTX_FILE_CUBIN,
    PTX_FILE_TEXT,
    PTX_FILE_KIND_COUNT
};

struct ptx_file_container {
    struct ptx_fatbin fatbin;
    const char *section; /* NULL if the file is not a host ELF file or archive */
    char *member;        /* of an archive, else NULL */
    char *label;         /* "app: fat binary 2 in .nv_fatbin" for messages */
    size_t offset;       /* in the file */
};

struct ptx_file {
    enum ptx_file_kind kind;
    char *path;
    struct ptx_span bytes;                 /* mapped; entries point into it */
    struct ptx_file_container *containers; /* a .cubin or .ptx file counts as one */
    uint32_t container_count;
};

/* Opens and reads all headers. The file must not change while it is open.
 * Errors: PXR_NOT_FOUND, PXR_IO, PXR_BAD_IMAGE, PXR_INVALID_ARGUMENT (a directory or other
 * special file), PXR_OUT_OF_MEMORY. A host ELF file without device code is no error. */
enum pxr_status ptx_file_open(const char *path, struct ptx_file **file, struct pxr_error *err);
void ptx_file_close(struct ptx_file *file);

/* "executable", "archive", ... */
const char *ptx_file_kind_name(enum ptx_file_kind kind);

#endif
