/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies segments of the kernel into another function: for the bodies of regions and for the step
 * function, which replace a few instructions differently.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_CLONE_H
#define PTXRUN_TRANSLATOR_COLLAPSE_CLONE_H

#include "translator/collapse/collapse.h"

struct tr_clone {
    const struct tr_kernel *kernel;
    LLVMContextRef llvm;
    LLVMValueRef function; /* receives the copy */
    LLVMMetadataRef subprogram;
    LLVMBuilderRef builder;
    /* By value: its copy; values defined elsewhere may be filled in before. */
    LLVMValueRef *copies;
    /* By value: memory that holds it; NULL: none. It is written where the value is defined and read
     * where another segment uses it. */
    LLVMValueRef *homes;
    bool has_kept_homes;       /* they hold values of their kept types (kept.h) */
    LLVMBasicBlockRef *blocks; /* by segment: where its copy begins … */
    LLVMBasicBlockRef *ends;   /* … and ends */
    /* Replaces the instruction at the builder's place: true; sets copies[value] if it has a result.
     * If it ends the block, the rest of the segment is left out. */
    bool (*replace)(struct tr_clone *clone, uint32_t value);
    void *data;
};

/* Allocates the arrays in the kernel's arena, all NULL. */
enum pxr_status tr_clone_init(struct tr_clone *clone, const struct tr_kernel *kernel,
                              struct pxr_error *err);

/* Forgets copies, homes and blocks. */
void tr_clone_reset(struct tr_clone *clone);

/* Copies the segments with the kernel's control flow between them. Segments that end with a sync
 * point are left to `replace`, which must end the block. Phis get values only from segments in the
 * set. */
void tr_clone_segments(struct tr_clone *clone, const struct tr_set *segments);

/* Writes the value's copy to its home, if it has one. */
void tr_clone_store_home(struct tr_clone *clone, uint32_t value);

/* Copies one instruction, but no phi or terminator, to the builder's place outside of its segment:
 * its operands come from homes and from copies made before. */
void tr_clone_value(struct tr_clone *clone, uint32_t value);

/* The value as the copy of the segment uses it at the builder's place; TR_NONE: as code outside of
 * all segments does. */
LLVMValueRef tr_clone_use(struct tr_clone *clone, uint32_t value, uint32_t segment);

/* The same for operand i of an instruction. */
LLVMValueRef tr_clone_operand(struct tr_clone *clone, uint32_t value, uint32_t i, uint32_t segment);

/* Gives the builder the value's source location. */
void tr_clone_locate(struct tr_clone *clone, uint32_t value);

#endif
