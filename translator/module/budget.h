/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits on the cost of compiling a kernel. Steps whose time grows faster than the code ask before
 * they begin; if the answer is no the kernel gets less effort: no vectors, no loops over threads,
 * fewer passes, in the end only linear steps. Everything is counted in instructions, blocks and the
 * like and never in time, so that a kernel always gets the same code. All efforts give the same
 * results.
 *
 * The limits are far above what people write; docs/measurements.md has the sweep that they come
 * from.
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_BUDGET_H
#define PTXRUN_TRANSLATOR_MODULE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Types.h>

enum tr_effort {
    TR_EFFORT_FULL,
    TR_EFFORT_LOOPS,  /* loops over threads, but not over vectors of threads */
    TR_EFFORT_QUICK,  /* the same with few passes and quick code generation: the quick tier */
    TR_EFFORT_THREAD, /* the code of one thread, as `precise` has it */
    TR_EFFORT_SHORT,  /* the same with few passes and quick code generation */
    TR_EFFORT_LINEAR, /* the same with no passes at all */
    TR_EFFORT_COUNT
};

/* Whether all passes of the collapse run, and LLVM's good code generation. */
static inline bool tr_effort_is_good(enum tr_effort effort)
{
    return effort < TR_EFFORT_SHORT && effort != TR_EFFORT_QUICK;
}

/* The quantities that have limits. */
enum tr_limit {
#define LIMIT(ID, most, effort, what) TR_LIMIT_##ID,
#include "translator/module/budget.def"
#undef LIMIT
    TR_LIMIT_COUNT
};

/* Zero-initialise. */
struct tr_budget {
    enum tr_effort effort; /* the effort that the steps so far allow */
    bool is_quick;       /* of the quick tier: begins with QUICK, and no limit leads to more passes
                            than that has */
    enum tr_limit limit; /* the limit that lowered it last … */
    uint64_t amount;     /* … and the amount that passed it; 0: none did */
    uint64_t loops;      /* branches back in the PTX of the kernel and of all functions it may
                            call */
    uint64_t spent;      /* of sums that have a limit, of which there is one */
    uint32_t divisor;    /* for tests: limits are so many times lower; 0: they are unchanged */
};

void tr_budget_begin(struct tr_budget *budget, enum tr_effort effort);

/* Whether such an amount is allowed. If not, the effort falls to the limit's, unless it is lower
 * already. */
bool tr_budget_allows(struct tr_budget *budget, enum tr_limit limit, uint64_t amount);

/* Likewise of a sum: takes the amount from what is left of the limit, unless it is not allowed. */
bool tr_budget_spend(struct tr_budget *budget, enum tr_limit limit, uint64_t amount);

/* "compile budget: no vectors of threads: 81920 instructions, at most 60000\n", or "" if no limit
 * was passed. */
#define TR_BUDGET_TEXT_BYTES 160
void tr_budget_text(const struct tr_budget *budget, char text[TR_BUDGET_TEXT_BYTES]);

/* The same as "81920 instructions, at most 60000". */
void tr_budget_excess(const struct tr_budget *budget, char text[TR_BUDGET_TEXT_BYTES]);

/* The size of a module's functions. */
struct tr_size {
    uint64_t instructions; /* of vectors of 128-bit integers, one for each element */
    uint64_t blocks;
    uint64_t edges;
    uint64_t targets; /* of the branch with most targets */
    uint64_t loops;   /* branches back, in the order of blocks */
    uint64_t square;  /* pairs of instructions in one block, where accesses to memory count more:
                         code generation takes time for each */
};
void tr_module_size(LLVMModuleRef module, struct tr_size *size);

/* Instructions that a fused operation of f16 becomes (multiply_adds.c), by the error of its sum,
 * and by two roundings. */
#define TR_FUSED_HALF         18
#define TR_FUSED_HALF_ROUNDED 8

/* Instructions in the function's body. */
uint32_t tr_instruction_count(LLVMValueRef function);

#endif
