/* SPDX-License-Identifier: Apache-2.0
 *
 * What compiling a kernel may cost. Steps whose time grows faster than the code ask before they
 * begin, and where the answer is no the kernel gets less effort: no vectors, no loops over threads,
 * fewer passes, in the end nothing but what is linear. Everything is counted in instructions,
 * blocks and the like and never in time, so that a kernel always gets the same code. All efforts
 * give the same results.
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
    TR_EFFORT_LOOPS,  /* loops over threads, but not over vectors of them */
    TR_EFFORT_THREAD, /* the code of one thread, as `precise` has it */
    TR_EFFORT_SHORT,  /* that with few passes and quick code generation */
    TR_EFFORT_LINEAR, /* and no pass at all */
};

/* What is asked about. */
enum tr_limit {
#define LIMIT(ID, most, effort, what) TR_LIMIT_##ID,
#include "translator/module/budget.def"
#undef LIMIT
    TR_LIMIT_COUNT
};

/* Zero-initialise. */
struct tr_budget {
    enum tr_effort effort; /* what the steps so far have left */
    enum tr_limit limit;   /* which has brought it there last … */
    uint64_t amount;       /* … by this amount; 0: none has */
    uint64_t loops;        /* branches back in the PTX of the kernel and all it may call */
    uint32_t divisor;      /* for tests: limits are so many times lower; 0: they are as they are */
};

/* Whether there may be so much. If not, the effort falls to the limit's, unless it is lower
 * already. */
bool tr_budget_allows(struct tr_budget *budget, enum tr_limit limit, uint64_t amount);

/* "compile budget: 81920 instructions, at most 60000: …\n", or "" if no limit was passed. */
#define TR_BUDGET_TEXT_BYTES 160
void tr_budget_text(const struct tr_budget *budget, char text[TR_BUDGET_TEXT_BYTES]);

/* How large a module's functions are. */
struct tr_size {
    uint64_t instructions;
    uint64_t blocks;
    uint64_t edges;
    uint64_t targets; /* of the branch that has most */
    uint64_t loops;   /* branches back, in the order of blocks */
    uint64_t square;  /* pairs of instructions that are in one block, where accesses to memory count
                         more: code generation takes time for each */
};
void tr_module_size(LLVMModuleRef module, struct tr_size *size);

/* Of the function's body. */
uint32_t tr_instruction_count(LLVMValueRef function);

#endif
