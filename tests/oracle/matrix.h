/* SPDX-License-Identifier: Apache-2.0
 *
 * What bodies of instructions on matrices share. Private to matrix.c, matrix_moves.c and
 * shared_matrix.c.
 */
#ifndef PTXRUN_TESTS_ORACLE_MATRIX_H
#define PTXRUN_TESTS_ORACLE_MATRIX_H

#include "ptx/matrix.h"
#include "tests/oracle/machine.h"

/* Elements in a register. */
static inline unsigned oracle_in_register(const struct ptx_fragment *fragment)
{
    return ptx_fragment_register_bits(fragment) / fragment->bits;
}

static inline enum ptx_type oracle_register_type(const struct ptx_fragment *fragment)
{
    return ptx_fragment_register_bits(fragment) == 64 ? PTX_TYPE_B64 : PTX_TYPE_B32;
}

/* "The behavior is undefined if … any thread in the warp has exited": refused here. */
static inline enum pxr_status oracle_meet_warp(struct oracle_thread *thread,
                                               const struct ptx_inst *inst, oracle_finish finish)
{
    return oracle_meet_lanes(thread, inst, UINT32_MAX, finish);
}

/* ---- shared_matrix.c: matrices of wgmma in shared memory ---- */

struct oracle_shared_matrix {
    uint64_t descriptor;
    bool is_transposed; /* imm-trans-a, imm-trans-b */
    unsigned bits;      /* of an element */
};

/* The element k of a line (a row of A or column of B); its bits are the lowest. */
enum pxr_status oracle_shared_element(struct oracle_thread *thread, const struct ptx_inst *inst,
                                      const struct oracle_shared_matrix *matrix, unsigned line,
                                      unsigned k, uint64_t *element);

/* ---- wgmma.c: its operands ---- */

struct oracle_wgmma {
    struct oracle_shared_matrix in_memory[2]; /* A, if it has a descriptor; B */
    bool has_descriptor;
    bool has_c;         /* scale-d */
    float sign;         /* of products: imm-scale-a times imm-scale-b */
    unsigned first_row; /* of A, of those of the warpgroup */
};

struct oracle_wgmma oracle_wgmma_operands(struct oracle_thread *thread,
                                          const struct ptx_inst *inst);
/* Whether all elements in memory are where the thread may read. */
enum pxr_status oracle_wgmma_reach(struct oracle_thread *thread, const struct ptx_inst *inst);

#endif
