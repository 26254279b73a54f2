/* SPDX-License-Identifier: Apache-2.0
 *
 * Cubins that carry PTX. Assemblers, compilers and linkers of GPU code hand out ELF files with
 * machine code; those that stand in for them hand out ELF files of the same machine whose code is
 * the PTX it would have been made from, each text in a section of its own. All that reads images
 * takes such a file for its PTX (ptx_elf_visit_ptx).
 */
#ifndef PTXRUN_PTX_CUBIN_H
#define PTXRUN_PTX_CUBIN_H

#include "ptx/fatbin.h"

/* Makes a cubin for this architecture (90 for sm_90) of PTX texts, which the loader links. The
 * caller frees *cubin. Errors: PXR_INVALID_ARGUMENT (no text, too many), PXR_OUT_OF_MEMORY. */
enum pxr_status ptx_cubin_make(const struct ptx_span *texts, size_t text_count, unsigned arch,
                               uint8_t **cubin, size_t *cubin_bytes, struct pxr_error *err);

#endif
