/* SPDX-License-Identifier: Apache-2.0
 *
 * Summaries of modules in the cache on the disk: the outline of the module that an image holds,
 * under a key of the image's PTX as it is stored. A process that finds it neither expands nor
 * parses the PTX until it has to compile something. Internal to cudart/core/code. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_SUMMARY_H
#define PTXRUN_CUDART_CORE_CODE_SUMMARY_H

#include "cache/key.h"
#include "ptx/outline.h"
#include "ptx/source.h"

/* The outline of the source's module. *module: the module itself if it had to be parsed, else NULL;
 * both are the caller's. name: with which the source was opened. Errors: those of ptx_source_parse;
 * a module with errors has no summary. */
enum pxr_status crt_summary_find(const struct ptx_source *source, const char *name,
                                 struct ptx_outline **outline, struct ptx_module **module,
                                 struct pxr_error *err);

/* Under which key a source's summary is; false: it has none, as this library has no build id. */
bool crt_summary_key(const struct ptx_source *source, struct cache_key *key);

/* The digest of a kernel's fingerprint, as outlines that are made here have it. */
enum pxr_status crt_kernel_digest(const struct ptx_module *module, const struct ptx_func *kernel,
                                  const struct ptx_kernel_layout *layout,
                                  uint8_t digest[PTX_DIGEST_BYTES], struct pxr_error *err);

#endif
