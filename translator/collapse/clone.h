/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies segments of the kernel into another function. Used for the bodies of regions and for the
 * step function, which differ in what they make of a few instructions.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_CLONE_H
#define PTXRUN_TRANSLATOR_COLLAPSE_CLONE_H

#include "translator/collapse/collapse.h"

struct tr_clone {
    const struct tr_kernel *kernel;
    LLVMContextRef llvm;
    LLVMValueRef function; /* that the copy goes into */
    LLVMMetadataRef subprogram;
    LLVMBuilderRef builder;
    /* The copy of each value, by value; may be filled before for values defined elsewhere. */
    LLVMValueRef *copies;
    /* By value: memory that holds the value, NULL: none. It is written where the value is defined
     * and read where it is used in another segment. */
    LLVMValueRef *homes;
    LLVMBasicBlockRef *blocks; /* by segment: where its copy begins … */
    LLVMBasicBlockRef *ends;   /* … and ends */
    /* Makes something else of the instruction at the builder's place: true; sets copies[value] if
     * it has a result. What follows in the segment is left out if the place has a terminator then.
     */
    bool (*replace)(struct tr_clone *clone, uint32_t value);
    void *data;
};

/* Allocates the arrays in the kernel's arena, all NULL. */
enum pxr_status tr_clone_init(struct tr_clone *clone, const struct tr_kernel *kernel,
                              struct pxr_error *err);

/* Forgets copies, homes and blocks. */
void tr_clone_reset(struct tr_clone *clone);

/* Copies the segments; control between them is that of the kernel, but sync point segments are left
 * to `replace`, which must end the block. Phis get values only from segments in the set. */
void tr_clone_segments(struct tr_clone *clone, const struct tr_set *segments);

/* Copies one instruction, but no phi or terminator, to the builder's place, which is outside of its
 * segment: what it uses comes from homes and copies made before. */
void tr_clone_value(struct tr_clone *clone, uint32_t value);

/* The value as the copy of the segment sees it at the builder's place; TR_NONE: as code outside of
 * all segments does. */
LLVMValueRef tr_clone_use(struct tr_clone *clone, uint32_t value, uint32_t segment);

/* Operand i of an instruction, likewise. */
LLVMValueRef tr_clone_operand(struct tr_clone *clone, uint32_t value, uint32_t i, uint32_t segment);

/* The builder's instructions come from where the value does. */
void tr_clone_locate(struct tr_clone *clone, uint32_t value);

#endif
