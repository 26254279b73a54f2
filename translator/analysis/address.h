/* SPDX-License-Identifier: Apache-2.0
 *
 * Analysis of addresses: where their memory comes from, which terms they are the sum of, and how
 * they move from one iteration, thread or row to the next. Pure queries: no function here emits
 * code.
 *
 * Callers need different things of one address. Whether two threads can meet depends on the part of
 * %tid, below any conversion; a gather wants a base and an index that it can take as a vector, so
 * nothing in the index may be taken apart; making a pointer of an integer wants the addends; stores
 * past the caches want the parameter, and may guess; rows want to know whether the next one wraps.
 * So each question says how far to look and how certain the answer has to be, and the answer says
 * what it holds modulo. Nobody has to ask for an alignment: facts make it attributes of parameters,
 * from which LLVM's known bits follow, and each access carries its own.
 */
#ifndef PTXRUN_TRANSLATOR_ANALYSIS_ADDRESS_H
#define PTXRUN_TRANSLATOR_ANALYSIS_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Target.h>

#include "translator/analysis/analysis.h"

/* ---- records of the run time (address_record.c) ----
 *
 * The structures of kernel_abi/rt.h that generated code finds through its first argument: struct
 * rt_thread in the program of one thread, struct rt_block in fused code. */

enum tr_record {
    TR_RECORD_NONE,
    TR_RECORD_THREAD,
    TR_RECORD_BLOCK,
    TR_RECORD_LAUNCH,
    TR_RECORD_PARAMS, /* the kernel's parameters */
    TR_RECORD_SLOTS   /* addresses of the module's variables */
};

/* The record that the pointer is the beginning of, if the function's first argument points to
 * `first`. */
enum tr_record tr_record_at(LLVMValueRef pointer, enum tr_record first);

/* The field that a load reads. */
struct tr_field {
    enum tr_record record; /* TR_RECORD_NONE: no part of a record */
    bool has_offset;       /* the offset is constant */
    uint64_t offset;       /* in bytes, from the record's beginning */
};

/* TR_RECORD_NONE if the instruction is no load. */
struct tr_field tr_field_of(LLVMValueRef load, enum tr_record first);
bool tr_is_field(LLVMValueRef load, enum tr_record first, enum tr_record record, uint64_t offset);

/* ---- where memory comes from (address_root.c) ---- */

/* The kinds of memory that a pointer may lead to: a set. */
enum tr_origin {
    TR_ORIGIN_SHARED = 1,    /* the block's shared memory */
    TR_ORIGIN_PARAM = 2,     /* through a parameter of the kernel */
    TR_ORIGIN_VARIABLE = 4,  /* a variable of the module */
    TR_ORIGIN_LOCAL = 8,     /* the thread's own */
    TR_ORIGIN_CONSTANT = 16, /* written by nobody while the grid runs */
    TR_ORIGIN_UNKNOWN = 32   /* anything */
};

/* The host's memory: parameters can point to variables too. */
#define TR_ORIGIN_GLOBAL (TR_ORIGIN_PARAM | TR_ORIGIN_VARIABLE)

/* Several parameters, or an unknown one. */
#define TR_PARAM_ANY UINT32_MAX

struct tr_root {
    uint8_t origins; /* 0: a number, no address */
    uint32_t param;  /* of TR_ORIGIN_PARAM: its offset in the parameters, plus 1, or TR_PARAM_ANY;
                        0: no parameter */
};

enum tr_certainty {
    TR_CERTAIN, /* whatever the program does, the pointer leads nowhere else */
    TR_LIKELY   /* as programs are usually written: no address is a product, and a pointer with an
                   offset stays in its memory. Good enough for how fast code is, not for what it
                   does. */
};

struct tr_roots {
    const struct tr_graph *graph;
    enum tr_record first; /* the record that the function's first argument points to */
    enum tr_certainty certainty;
    struct tr_root *values; /* by value: of pointers and integers of 64 bits */
};

/* Memory: the graph's arena. False: out of memory. */
bool tr_roots_build(struct tr_graph *graph, enum tr_record first, enum tr_certainty certainty,
                    struct tr_roots *roots);
struct tr_root tr_root_of(const struct tr_roots *roots, LLVMValueRef value);

/* ---- what an address is the sum of (address_sum.c) ---- */

#define TR_SUM_TERMS 16

/* What to take apart, besides constants and the indices of a GEP. */
enum tr_through {
    TR_THROUGH_SUMS = 1,        /* of two values; otherwise only of a value and a constant */
    TR_THROUGH_PRODUCTS = 2,    /* with constants */
    TR_THROUGH_CONVERSIONS = 4, /* whether or not they wrap: the sum holds modulo 2^32 */
    TR_THROUGH_REGISTERS = 8    /* the thread's place, as its program reads it */
};

/* Apart into the addends of a parameter. */
#define TR_AS_ADDENDS TR_THROUGH_SUMS
/* Apart into a pointer and indices of elements, which may be sums of several. */
#define TR_AS_INDICES (TR_THROUGH_SUMS | TR_THROUGH_PRODUCTS)
/* Apart into the parts of threads and blocks. Two accesses that overlap do so modulo 2^32, and
 * modulo 2^32 conversions between 32 and 64 bits, with sign or zeros, change nothing: no range
 * needs to be proved to look through them. */
#define TR_AS_THREADS                                                                              \
    (TR_THROUGH_SUMS | TR_THROUGH_PRODUCTS | TR_THROUGH_CONVERSIONS | TR_THROUGH_REGISTERS)

struct tr_term {
    LLVMValueRef index; /* with fewer than 64 bits it counts with its sign … */
    uint64_t factor;    /* not 0 */
    bool is_unsigned;   /* … or without: never in what tr_sum_of finds */
};

/* base + offset + tid * %tid + ctaid * %ctaid + the terms, modulo 2^bits. */
struct tr_sum {
    bool is_known;     /* it has this form */
    unsigned bits;     /* 64; 32: conversions may have wrapped */
    LLVMValueRef base; /* the pointer that GEPs begin with; NULL where it is one of the terms */
    uint32_t addends;  /* number of values added up, constants included */
    uint64_t offset;
    uint64_t tid[3];
    uint64_t ctaid[3];
    uint32_t count;
    struct tr_term terms[TR_SUM_TERMS]; /* in the order found; through sums, each index once */
};

struct tr_sum_query {
    LLVMTargetDataRef layout;
    unsigned through;      /* a set of enum tr_through */
    uint32_t most_terms;   /* a pointer with too many GEPs is one base; 0: TR_SUM_TERMS */
    const uint32_t *block; /* for registers: the block's shape, 0: not known */
};

void tr_sum_of(const struct tr_sum_query *query, LLVMValueRef address, struct tr_sum *sum);

/* Whether they differ only by the offset and by the part of %tid. */
bool tr_has_same_terms(const struct tr_sum *a, const struct tr_sum *b);
/* The distance of b from a, if it is constant. */
bool tr_sum_distance(const struct tr_sum *a, const struct tr_sum *b, int64_t *bytes);

/* The dimension of a special register that the value reads, such as rt_sreg_tid_x; -1: another
 * value. */
int tr_tid_dimension(LLVMValueRef value);

/* ---- how a value moves (address_step.c) ---- */

enum tr_number_kind {
    TR_NUMBER_CONSTANT,
    TR_NUMBER_VALUE, /* of the function: `value`, which does not move */
    TR_NUMBER_SUM,
    TR_NUMBER_DIFFERENCE,
    TR_NUMBER_PRODUCT,
    TR_NUMBER_SHIFTED, /* a << b */
    TR_NUMBER_ZEXT,
    TR_NUMBER_SEXT,
    TR_NUMBER_TRUNC
};

/* A number that code can be made for where it is needed. */
struct tr_number {
    enum tr_number_kind kind;
    unsigned bits;
    uint64_t constant;
    LLVMValueRef value;
    struct tr_number *a;
    struct tr_number *b;
    LLVMValueRef made; /* the code, once it exists; NULL before */
};

struct tr_move_context {
    struct pxr_arena *arena; /* where numbers live */
    LLVMTargetDataRef layout;
};

/* Numbers of up to 64 bits, with constants folded. NULL: out of memory, or an operand is NULL. */
struct tr_number *tr_number_constant(const struct tr_move_context *context, unsigned bits,
                                     uint64_t constant);
struct tr_number *tr_number_of(const struct tr_move_context *context, LLVMValueRef operand);
/* b: NULL for a conversion. */
struct tr_number *tr_number_combined(const struct tr_move_context *context,
                                     enum tr_number_kind kind, unsigned bits, struct tr_number *a,
                                     struct tr_number *b);

bool tr_is_constant_number(const struct tr_number *number);
int64_t tr_constant_of(const struct tr_number *number);

/* How a value changes from one iteration of a loop, or one row, to the next. */
struct tr_move {
    struct tr_number *by; /* NULL: unknown; in bytes for pointers */
    bool nuw, nsw; /* it does not wrap on the way, as an unsigned number and an unsigned step, or as
                      signed ones */
    bool is_positive; /* as a signed number it is at least 0 all the time */
};

bool tr_is_no_move(const struct tr_move *step);

/* The move of a value by a constant. 0: it does not move; otherwise it is a counter that begins
 * with 0 and neither turns back nor wraps. */
struct tr_move tr_move_by(const struct tr_move_context *context, LLVMValueRef value, int64_t by);

/* The move of an instruction's result, from the moves of its first two operands. Its flags promise
 * something only for iterations whose result is used, and the one before may be none of these. So
 * they count only if a number too large in one iteration is too large in all that follow: unsigned
 * numbers that grow, and signed ones that grow from 0 on. */
struct tr_move tr_move_of_inst(const struct tr_move_context *context, LLVMValueRef inst,
                               const struct tr_move operands[2]);

#endif
