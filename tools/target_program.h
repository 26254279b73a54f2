/* SPDX-License-Identifier: Apache-2.0
 *
 * The program that ptxrun is asked to start: where it is, and whether the dynamic loader will let
 * it use our libraries.
 */
#ifndef PTXRUN_TOOLS_TARGET_PROGRAM_H
#define PTXRUN_TOOLS_TARGET_PROGRAM_H

#include <stdbool.h>

#include "util/error.h"

/* The properties of a target that can be started. */
struct target {
    char *elf_path;      /* the program itself, or the interpreter of a script; or NULL */
    char *other_driver;  /* libcuda.so.1 that DT_RPATH finds before LD_LIBRARY_PATH; or NULL */
    bool lacks_cudart;   /* it needs, or may need, a libcudart of cudart_directory */
    bool lacks_older[2]; /* the same of libcudart.so.12 and .11.0, of older toolkits */
    bool names_cudart;   /* it needs one itself; otherwise a library it loads later may */
    char *warning;       /* why it will not get far although it can be started; or NULL */
};

/* Finds program as execvp would: names with a slash as they are, others along PATH.
 * The caller frees *path. Errors: PXR_NOT_FOUND, PXR_IO (it is there but cannot be executed). */
enum pxr_status target_find(const char *program, char **path, struct pxr_error *err);

/* Examines the program, or the interpreter of a script. cudart_directory may be NULL.
 * Errors: PXR_UNSUPPORTED and PXR_IO when starting it is certain to fail or to leave our
 * libraries out. The caller calls target_fini in any case. */
enum pxr_status target_inspect(const char *path, const char *cudart_directory,
                               struct target *target, struct pxr_error *err);
void target_fini(struct target *target);

#endif
