/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts: the assumptions of a variant of a kernel about the launches it is used for. Made from a
 * launch and checked for every other by jit/facts.c; used by the translation (tr_assume_facts). No
 * LLVM here: the host side includes it too.
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_LAUNCH_FACTS_H
#define PTXRUN_TRANSLATOR_MODULE_LAUNCH_FACTS_H

#include <stdbool.h>
#include <stdint.h>

/* True of every launch without being a fact: larger ones are refused (PTX ISA, limits of %ntid and
 * %nctaid). */
#define TR_BLOCK_MAX_THREADS 1024
#define TR_BLOCK_MAX_Z       64
#define TR_GRID_MAX_X        2147483647
#define TR_GRID_MAX_YZ       65535

/* Nothing is assumed of parameters beyond these. */
#define TR_FACTS_PARAMS 32

/* Facts about a parameter that is one integer of 32 or 64 bits. */
struct tr_param_fact {
    uint8_t max_log2;    /* 0: not known; else the value, taken as unsigned, is at most 1 << this */
    uint8_t align_log2;  /* 64 bits only: the value is a multiple of 1 << this */
    uint8_t is_distinct; /* 64 bits only: an address in an allocation into which no other such
                            parameter points. Says nothing about pointers in structures or in
                            memory. */
    uint16_t image_shape; /* 64 bits only: the upper 16 bits of a texture's handle
                             (kernel_abi/image_shape.h); 0: not known */
};

/* Threads of a warp (kernel_abi/rt.h). */
#define TR_FACTS_WARP 32

/* All zero: nothing is assumed. */
struct tr_facts {
    uint32_t block[3];    /* the block's shape; 0: not known */
    bool has_whole_warps; /* rows of a block are whole warps; false where block[0] is known */
    uint32_t grid_max[3]; /* the grid has at most so many blocks in this direction; 0: not known */
    bool has_dynamic_shared;
    uint32_t dynamic_shared_bytes; /* 0 unless has_dynamic_shared */
    bool begins_inside;            /* the first threads of a block may have run in other code
                                      (rt_block.first_thread); false: every block begins with its first */
    struct tr_param_fact params[TR_FACTS_PARAMS]; /* by the parameter's number */
};

/* Whether each warp has 32 threads, all in one row. */
static inline bool tr_has_whole_warps(const struct tr_facts *facts)
{
    return facts->block[0] != 0 ? facts->block[0] % TR_FACTS_WARP == 0 : facts->has_whole_warps;
}

#endif
