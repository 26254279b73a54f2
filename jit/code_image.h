/* SPDX-License-Identifier: Apache-2.0
 *
 * An object on its way into memory: the rules that it must obey, the memory that it gets, and what
 * is read out of it once its parts have their places. Every loader uses it; loaders differ in who
 * gives the places and applies the relocations. Nothing in the object is believed, so that it may
 * come from outside the process.
 */
#ifndef PTXRUN_JIT_CODE_IMAGE_H
#define PTXRUN_JIT_CODE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "jit/elf_object.h"
#include "jit/jit.h"
#include "jit/lines.h"
#include "jit/reloc.h"
#include "util/guard.h"

#define IMAGE_BYTES_MAX  (UINT64_C(1) << 30) /* keeps every distance within 32 bits */
#define IMAGE_NOT_PLACED UINT64_MAX

/* Zeros before the first function: tools that look for a type signature in front of a called
 * function (-fsanitize=function) then find none, instead of unmapped memory. */
#define IMAGE_TEXT_LEAD_BYTES 16

enum section_kind { SECTION_SKIPPED, SECTION_TEXT, SECTION_CONSTANTS };

struct symbol_use {
    bool is_external;
    bool needs_stub;
    bool needs_slot;
    uint64_t stub; /* offsets in the image, of the loader that makes stubs itself */
    uint64_t slot;
};

struct image {
    const struct reloc_arch *arch;
    struct elf_object object;
    const struct jit_symbol *extra;
    size_t extra_count;
    enum section_kind *kinds;  /* by section */
    uint64_t *section_offsets; /* by section, in the image; IMAGE_NOT_PLACED; the loader's work */
    struct symbol_use *uses;   /* by symbol */
    uint32_t kernel;           /* the symbol */
    uint64_t text_bytes;       /* whole pages */
    uint64_t total_bytes;      /* whole pages */
    uint8_t *map;              /* the area's: text, then what is only read */
    struct pxr_area area;      /* the caller's to unmap; of a failed call, too */
};

/* Reads the object, whose bytes the caller keeps, and checks it against all rules: nothing writable
 * but what relocations fill in, no absolute address in text, no relocation that is not known, no
 * symbol from outside that is neither in jit/symbols.c nor in `extra`, and there is a kernel.
 * image_fini is due in any case. Errors: PXR_COMPILE_FAILED, PXR_OUT_OF_MEMORY. */
enum pxr_status image_init(struct image *image, const struct jit_object *object,
                           const struct jit_symbol *extra, size_t extra_count,
                           struct pxr_error *err);
void image_fini(struct image *image);

/* Maps memory for text and for the rest, whole pages each; writable until image_protect. */
enum pxr_status image_map(struct image *image, uint64_t text_bytes, uint64_t rest_bytes,
                          struct pxr_error *err);

/* From here on text can be run and nothing can be written. */
enum pxr_status image_protect(const struct image *image, struct pxr_error *err);

/* Calls fn for the relocations of all sections that are loaded, until one fails. */
enum pxr_status image_each_reloc(const struct image *image, elf_reloc_fn fn, void *argument,
                                 struct pxr_error *err);

/* Address of a symbol, which must be a known external or in a section that has its place. */
enum pxr_status image_symbol_address(const struct image *image, uint32_t symbol, uint64_t *address,
                                     struct pxr_error *err);

/* The line table of the text, when that has its place. */
enum pxr_status image_load_lines(struct image *image, struct jit_lines *lines,
                                 struct pxr_error *err);

uint64_t image_align(uint64_t value, uint64_t alignment);

#endif
