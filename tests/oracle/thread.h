/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the core of the oracle and the bodies of instructions: a thread, its registers, and how
 * a body reads and writes operands. A body is a function named oracle_<emitter>, declared in
 * dispatch.h from the op table.
 */
#ifndef PTXRUN_TESTS_ORACLE_THREAD_H
#define PTXRUN_TESTS_ORACLE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ptx.h"
#include "util/error.h"

#define ORACLE_WARP_SIZE 32

struct oracle;
struct oracle_block;
struct oracle_thread;
struct oracle_frame;

/* Raw bits of a register or operand. What lies above the value's width is zero; a predicate is
 * 0 or 1. */
union oracle_value {
    unsigned __int128 u128;
    uint64_t u64;
    int64_t s64;
    uint32_t u32;
    int32_t s32;
    uint16_t u16;
    int16_t s16;
    uint8_t u8;
    int8_t s8;
    float f32;
    double f64;
};

typedef enum pxr_status (*oracle_body)(struct oracle_thread *thread, const struct ptx_inst *inst);

/* Ends an operation of several lanes: gives each of `lanes` its result. `thread` is one of them. */
typedef void (*oracle_finish)(struct oracle_thread *thread, uint32_t lanes);

/* One instruction of a function, ready to run. */
struct oracle_step {
    oracle_body body;
    const struct ptx_inst *inst;
};

/* One function, made once per oracle. */
struct oracle_code {
    const struct ptx_func *func;
    struct oracle_step *steps;
    uint32_t step_count;
    uint32_t *label_steps; /* by label->index */
    uint32_t *places;      /* by var->index. Registers: first slot in the register file; .local and
                              .param: offset in the frame; .shared: address in shared memory */
    uint32_t slot_count;   /* of the register file */
    uint32_t frame_bytes;  /* of .local and .param variables */
    uint32_t frame_align;
};

enum oracle_state {
    ORACLE_RUNNABLE,
    ORACLE_AT_BARRIER, /* bar.sync, bar.red */
    ORACLE_AT_WARP,    /* an operation with a member mask */
    ORACLE_AT_GROUP,   /* an operation of the lanes that happen to be together */
    ORACLE_AT_CLUSTER, /* barrier.cluster.wait */
    ORACLE_EXITED
};

struct oracle_thread {
    union oracle_value *regs; /* of the function that runs */
    const struct oracle_code *code;
    uint32_t pc; /* step to run next; a body finds it already past itself */
    enum oracle_state state;
    bool carry;       /* CC.CF */
    bool yields;      /* lets others run before its next step */
    bool has_arrived; /* at barrier.cluster, in a phase that is not complete */
    uint32_t tid[3];
    uint32_t lane;
    uint32_t warp;
    struct oracle_block *block;
    struct oracle *oracle;

    /* calls (call.c) */
    union oracle_value *slots; /* register files of all frames, one behind the other */
    uint32_t slot_capacity;
    struct oracle_frame *frames; /* callers, the outermost first */
    uint32_t depth;
    uint32_t frame_capacity;

    /* local memory (memory.c): a stack that grows upward */
    uint8_t *local;
    uint32_t local_capacity;
    uint32_t local_top;   /* first address that is not in use */
    uint32_t frame_local; /* address of the running function's variables */

    /* an operation that waits for other threads (warp.c, barrier.c) */
    const struct ptx_inst *wait_inst;
    uint32_t wait_mask;
    uint32_t wait_barrier;
    uint64_t wait_since;  /* steps of the warp when a group wait began */
    oracle_finish finish; /* of an operation of lanes */
    union oracle_value wait_values[3];
    uint8_t *wait_row; /* of a matrix, in memory */

    uint64_t steps;
};

/* Value of an operand as a `type`: registers, constants, special registers, names (their address),
 * !p. Only the type's bits are kept, the rest is zero: sign-extend with oracle_signed. */
union oracle_value oracle_read(struct oracle_thread *thread, const struct ptx_inst *inst,
                               unsigned operand, enum ptx_type type);

/* Writes a result of that type. Bits of `value` beyond the type are ignored. A wider register is
 * filled by zero- or sign-extension as the type says (PTX ISA, "Operand Size Exceeding
 * Instruction-Type Size"); of a pair p|q this is the first; a sink takes nothing. */
void oracle_write(struct oracle_thread *thread, const struct ptx_inst *inst, unsigned operand,
                  enum ptx_type type, union oracle_value value);

/* The predicate q of a pair p|q; nothing when the operand is no pair. */
void oracle_write_second(struct oracle_thread *thread, const struct ptx_inst *inst,
                         unsigned operand, bool value);

/* The same for an operand in hand, and for the i-th element of a vector (or of a vector register;
 * a scalar is its own only element). */
union oracle_value oracle_read_operand(struct oracle_thread *thread,
                                       const struct ptx_operand *operand, enum ptx_type type);
void oracle_write_operand(struct oracle_thread *thread, const struct ptx_operand *operand,
                          enum ptx_type type, union oracle_value value);
union oracle_value oracle_read_elem(struct oracle_thread *thread, const struct ptx_operand *operand,
                                    unsigned i, enum ptx_type type);
void oracle_write_elem(struct oracle_thread *thread, const struct ptx_operand *operand, unsigned i,
                       enum ptx_type type, union oracle_value value);

/* Elements of an operand: of {a, b}, of a whole vector register, or 1. */
unsigned oracle_elem_count(const struct ptx_operand *operand);

/* Low `bits` of a value. */
static inline unsigned __int128 oracle_low_bits(unsigned __int128 value, unsigned bits)
{
    return bits >= 128 ? value : value & (((unsigned __int128)1 << bits) - 1);
}

/* The value of an integer type up to 64 bits, sign-extended. */
static inline int64_t oracle_signed(union oracle_value value, enum ptx_type type)
{
    unsigned shift = 64 - ptx_type_bits(type);

    return shift >= 64 ? 0 : (int64_t)(value.u64 << shift) >> shift;
}

/* Ends the launch: the message gets the kernel, the instruction with its line, and the thread.
 * inst may be NULL. Returns status. */
enum pxr_status oracle_fail(struct oracle_thread *thread, const struct ptx_inst *inst,
                            enum pxr_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* PXR_UNSUPPORTED for an instruction that the oracle has no body for. */
enum pxr_status oracle_refuse(struct oracle_thread *thread, const struct ptx_inst *inst);

#endif
