/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory operations of streams: writing a value, and waiting until a value in memory satisfies a
 * condition. A kernel, the host or another stream may write it.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_MEM_OP_H
#define PTXRUN_CUDART_CORE_MEMORY_MEM_OP_H

#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/result.h"

struct crt_context;
struct crt_stream;
struct crt_work;
struct sch_op;

/* The numbers of CUstreamBatchMemOpType. */
enum crt_mem_op_kind {
    CRT_MEM_OP_WAIT_32 = 1,
    CRT_MEM_OP_WRITE_32 = 2,
    CRT_MEM_OP_FLUSH = 3, /* nothing to do: memory has no remote writers */
    CRT_MEM_OP_WAIT_64 = 4,
    CRT_MEM_OP_WRITE_64 = 5,
    CRT_MEM_OP_BARRIER = 6,
    /* No operations of programs, and refused by crt_mem_op_check. The value is an eventfd. */
    CRT_MEM_OP_TAKE_EVENT = 100,
    CRT_MEM_OP_GIVE_EVENT = 101
};

/* Conditions of waits: low bits of CUstreamWaitValue_flags. */
enum crt_mem_op_condition {
    CRT_WAIT_GREATER_EQUAL, /* the difference, taken as a signed number, is not negative */
    CRT_WAIT_EQUAL,
    CRT_WAIT_AND, /* some bit is in both */
    CRT_WAIT_NOR, /* some bit is in neither */
    CRT_WAIT_CONDITION_COUNT
};

#define CRT_WAIT_FLUSH       (1u << 30)
#define CRT_WRITE_NO_BARRIER 1u
#define CRT_MEM_OPS_MAX      255

struct crt_mem_op {
    enum crt_mem_op_kind kind;
    unsigned flags;
    uintptr_t address;
    uint64_t value; /* operations on 32 bits take the low ones */
};

CRT_API_BEGIN

/* Whether an operation makes sense: CRT_INVALID_VALUE for unknown kinds and flags, and for
 * addresses that are not aligned, not of device or pinned memory, or of managed memory. */
enum crt_result crt_mem_op_check(const struct crt_mem_op *op);

/* Appends operations, which have been checked, in this order. In a capture: a node. */
enum crt_result crt_stream_mem_ops(struct crt_stream *stream, const struct crt_mem_op *ops,
                                   size_t count);

/* The operations as work. */
enum crt_result crt_work_mem_ops(const struct crt_mem_op *ops, size_t count, unsigned flags,
                                 struct crt_work *work);

CRT_API_END

/* The operations as two of the scheduler: they begin when *first, which the caller submits, has
 * nothing to wait for, and *last finishes when all are done. The caller gets a reference to
 * each. */
enum crt_result crt_mem_ops_span(struct crt_context *ctx, const struct crt_mem_op *ops,
                                 size_t count, struct sch_op **first, struct sch_op **last);

#endif
