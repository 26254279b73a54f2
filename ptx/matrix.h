/* SPDX-License-Identifier: Apache-2.0
 *
 * The matrices of an instruction of the families mma, wmma, wgmma and ldmatrix: their types, and
 * which lane has which element, from the table matrix.def.
 */
#ifndef PTXRUN_PTX_MATRIX_H
#define PTXRUN_PTX_MATRIX_H

#include "ptx/ptx.h"

/* One matrix, in the registers of a warp. */
struct ptx_fragment {
    enum ptx_type type;
    unsigned bits;      /* an element's place in a register; may be more than the type's */
    unsigned elements;  /* of a lane */
    const char *row;    /* matrix.def explains these */
    const char *column; /* NULL: the instruction has no such matrix */
};

struct ptx_matrices {
    unsigned m;
    unsigned n;
    unsigned k;
    struct ptx_fragment a;        /* m rows, k columns, or k / 2 if there is metadata; … */
    struct ptx_fragment b;        /* k, n */
    struct ptx_fragment c;        /* m, n */
    struct ptx_fragment d;        /* m, n */
    struct ptx_fragment metadata; /* of mma.sp; matrix.def explains it */
    unsigned blocks;              /* of k, each with a scale of its own; 0: there are none */
    struct ptx_fragment scale_a;  /* m, blocks */
    struct ptx_fragment scale_b;  /* blocks, n */
    unsigned groups;      /* of such products side by side, with other columns of B: wgmma */
    unsigned count;       /* of matrices like d: ldmatrix and stmatrix move several */
    unsigned memory_bits; /* of an element of d in memory, if ldmatrix makes it longer; or 0 */
};

/* An element's place in the matrix. */
struct ptx_cell {
    unsigned row;
    unsigned column;
};

/* … and in the warp. */
struct ptx_slot {
    unsigned lane;
    unsigned element;
};

/* All matrices of an mma or wmma.mma; of a wgmma.mma_async those of one of its four warps, which
 * are rows of an mma of m16n8, again and again for every eight columns; the one that wmma.load or
 * .store moves; d of ldmatrix and stmatrix. False: it is no such instruction. */
bool ptx_find_matrices(const struct ptx_inst *inst, struct ptx_matrices *matrices);

/* The matrix that wmma.load or wmma.store moves. */
const struct ptx_fragment *ptx_moved_fragment(const struct ptx_matrices *matrices);

struct ptx_cell ptx_cell_of(const struct ptx_fragment *fragment, struct ptx_slot place);

/* Where a lane finds a cell of its matrix, of which it may have a copy. */
struct ptx_slot ptx_slot_of(const struct ptx_fragment *fragment, struct ptx_cell cell,
                            unsigned lane);

/* Where the layout leaves bits of the lane over, an operand chooses among lanes: scales' thread-id,
 * the sparsity selector. These bits of the lane, and how many choices there are. */
unsigned ptx_lane_of_choice(const struct ptx_fragment *fragment, unsigned choice);
unsigned ptx_choice_count(const struct ptx_fragment *fragment);

/* Bits of a register that holds elements, and how many of them a lane has. */
unsigned ptx_fragment_register_bits(const struct ptx_fragment *fragment);
unsigned ptx_fragment_registers(const struct ptx_fragment *fragment);

#endif
