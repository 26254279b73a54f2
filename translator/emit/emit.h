/* SPDX-License-Identifier: Apache-2.0
 *
 * What the emitters share: the state of one translation, access to operands, and calls.
 * Private to translator/.
 *
 * Values: a PTX type's LLVM type is float for f32, double for f64, i1 for pred, and an integer of
 * the type's width for everything else (f16, bf16: i16; f16x2, bf16x2, tf32: i32).
 * Registers are integer allocas of their declared width (pred: i1); read before it is written, a
 * register is 0.
 *
 * Errors: the functions here that return a value never fail; what they cannot do they record in
 * ctx->status (and *ctx->err) and return a zero constant. The caller of an emitter looks at both
 * its result and ctx->status, so an emitter needs no checks of its own.
 */
#ifndef PTXRUN_TRANSLATOR_EMIT_H
#define PTXRUN_TRANSLATOR_EMIT_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "kernel_abi/placeholders.h"
#include "kernel_abi/rt.h"
#include "ptx/ptx.h"
#include "translator/analysis/analysis.h"
#include "translator/emit/emission.h"
#include "translator/emit/linear.h"
#include "translator/module/link_rt.h"
#include "translator/module/marks.h"
#include "translator/module/passes.h"
#include "util/arena.h"
#include "util/error.h"

/* The known low bits of a register since it was last written. */
struct tr_alignment {
    uint32_t region; /* where that holds: ctx->region; 0: nowhere */
    uint32_t align;  /* value + offset is a multiple of this */
    int64_t offset;
};

/* The number that a register was last written with, if the text says it. */
struct tr_constant {
    uint32_t region; /* where that holds: ctx->region; 0: nowhere */
    uint64_t bits;
};

/* The volatile accesses to shared memory that lanes of the warp may have made since they last
 * met. */
struct tr_step {
    uint32_t region; /* where that holds: ctx->region; 0: nowhere */
    bool has_read;
    bool has_written;
};

/* Kernels whose warps act as one thread each (uniform_warps.c). */
struct tr_uniform {
    const struct ptx_var *array; /* says which do at the moment; NULL: no such kernel */
    bool is_for_ever;            /* lanes never part */
    uint32_t region;             /* where has_read holds: ctx->region; 0: nowhere */
    bool has_read;               /* lanes may have, since they last gathered; … */
    bool has_written;
};

/* A register of a finished function. */
struct tr_slot {
    LLVMValueRef memory; /* an alloca */
    struct tr_slot *next;
};

/* The origin of a value (kernel_abi/numbers.h), and what the operation has had for operands: two of
 * them in one number, and the third. Of a register: where these are. */
struct tr_origin {
    LLVMValueRef site;      /* i32 */
    LLVMValueRef first_two; /* i64 */
    LLVMValueRef third;     /* i32 */
    /* In the order of the text the register was written last with an infinite constant, or by
     * arithmetic of integers: so library functions say that a result is infinite. */
    bool is_own;
};

/* Memory for passing arguments and results; in lists, the newest first. */
struct tr_passing {
    LLVMValueRef memory; /* an alloca of 2^size_class bytes */
    unsigned size_class;
    uint32_t depth; /* of the source block that it belongs to */
    struct tr_passing *next;
};
#define TR_PASSING_CLASSES 64

/* What emit_own_array.c knows of a function. */
struct tr_own {
    const struct ptx_func *func;
    const struct ptx_var *array; /* NULL: nothing is asked */
    LLVMValueRef flags;          /* an alloca */
};

/* What address_variable.c knows of a function. */
struct tr_addresses {
    const struct ptx_func *func;
    const struct ptx_var **by_register; /* by ptx_var.index */
};

struct tr_ctx {
    const struct ptx_module *ptx;
    const struct ptx_func *kernel;
    const struct ptx_kernel_layout *layout;
    const struct tr_options *options;
    struct pxr_error *err;
    enum pxr_status status; /* first failure */
    struct pxr_arena arena; /* lives as long as the translation */
    struct tr_budget *budget;

    LLVMContextRef llvm;
    LLVMModuleRef module;
    LLVMBuilderRef builder;       /* at the end of the current block */
    LLVMBuilderRef entry_builder; /* at the end of the entry block: allocas and first stores */
    LLVMDIBuilderRef debug;
    LLVMMetadataRef debug_file;
    LLVMTypeRef void_type, i1, i8, i16, i32, i64, i128, f32, f64, ptr;
    LLVMValueRef *functions;   /* by ptx_func.index; NULL until declared */
    LLVMValueRef handle_table; /* of indirect calls; NULL until needed */
    uint32_t warp_sites;       /* numbers the instructions where lanes gather */
    struct tr_slot *slots;     /* function after function, the newest first */
    bool has_handle_count;
    uint32_t handle_count;              /* of handles in the module, once it is known */
    uint32_t function_count;            /* functions begun so far */
    struct tr_set pending;              /* by ptx_func.index: declared and not defined yet */
    struct run_function *run_functions; /* the newest first (matrix_run.c) */
    struct product_operation *product_operations; /* likewise (matrix_functions.c) */

    /* the function being made */
    const struct ptx_func *func;
    LLVMValueRef function;
    LLVMValueRef thread; /* its first argument: struct rt_thread * */
    LLVMMetadataRef subprogram;
    LLVMValueRef carry;  /* alloca i1: CC.CF (PTX ISA "Extended-Precision Integer
                            Arithmetic Instructions") */
    LLVMValueRef launch; /* these four belong to emit_address.c; NULL until used */
    LLVMValueRef shared_base;
    LLVMValueRef param_base;
    LLVMValueRef words_base;
    LLVMValueRef lane_words; /* the lane's first (warp_function.c) */
    struct tr_run *run;      /* instructions on matrices (matrix_run.h); NULL until used */
    uint8_t *residents;      /* by ptx_var.index: a row (matrix_residents.h), or 0; or NULL */
    unsigned first_resident;
    LLVMValueRef *vars;              /* by ptx_var.index in func->vars: alloca; NULL until used */
    struct tr_alignment *alignments; /* by ptx_var.index, as vars */
    struct tr_constant *constants;   /* by ptx_var.index, as vars */
    struct tr_origin *origins;       /* by ptx_var.index, as vars; only with checks of numbers */
    uint32_t region;                 /* counts stretches of code without labels */
    const struct ptx_inst *table_fence; /* of tr_find_table_fence */
    bool keeps_step; /* the function may have volatile accesses to shared memory */
    struct tr_step step;
    struct tr_uniform uniform;
    struct tr_own own;
    struct tr_addresses addresses;
    LLVMValueRef *params; /* by position in func->params; not for entries */
    LLVMValueRef *rets;
    uint32_t block_depth;             /* braces in the source around the instruction */
    struct tr_passing *taken_passing; /* the deepest first */
    struct tr_passing *free_passing[TR_PASSING_CLASSES]; /* by size_class */
    LLVMBasicBlockRef *labels;                           /* by ptx_label.index; NULL until used */
    uint32_t *label_stmts;       /* by ptx_label.index: its place in func->stmts */
    const struct ptx_inst *inst; /* the instruction being made */
};

/* One per distinct emitter name in ptx/ops.def. An emitter appends to ctx->builder; it may start
 * blocks (tr_new_block) but leaves the builder where the next instruction goes. */
typedef enum pxr_status (*tr_emit_fn)(struct tr_ctx *ctx, const struct ptx_inst *inst);

#define OP(ID, syntax, family, operands, ptx, sm, emitter, fidelity)                               \
    enum pxr_status tr_emit_##emitter(struct tr_ctx *ctx, const struct ptx_inst *inst);
#include "ptx/ops.def"
#undef OP

/* ---- failures ---- */

/* PXR_UNSUPPORTED with the opcode as written, kernel, source and line; why may be NULL. */
enum pxr_status tr_unsupported(struct tr_ctx *ctx, const struct ptx_inst *inst, const char *why);

/* Records any other failure, unless one came before; returns the first one's status. */
enum pxr_status tr_fail(struct tr_ctx *ctx, enum pxr_status status, int line, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));

/* ---- types and constants ---- */

LLVMTypeRef tr_type(struct tr_ctx *ctx, enum ptx_type type);
LLVMTypeRef tr_int_type(struct tr_ctx *ctx, unsigned bits);
LLVMValueRef tr_const_int(struct tr_ctx *ctx, unsigned bits, uint64_t value);

/* ---- operands ----
 * index: position in inst->operands. type: what the instruction reads or writes there. */

static inline const struct ptx_operand *tr_operand(const struct ptx_inst *inst, unsigned index)
{
    return &inst->operands[index];
}

static inline bool tr_has_operand(const struct ptx_inst *inst, unsigned index)
{
    return index < inst->operand_count;
}

/* The operand's value as tr_type(type). Registers and special registers wider than the type are
 * truncated, narrower ones extended by the type's sign. Integer immediates become floats by value,
 * float immediates are rounded to the type, or give their bits to an integer type. Predicates
 * are i1; !p is taken into account. VAR and FUNC give their address (tr_symbol_address). */
LLVMValueRef tr_operand_value(struct tr_ctx *ctx, const struct ptx_operand *operand,
                              enum ptx_type type);
LLVMValueRef tr_value(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index,
                      enum ptx_type type);

/* Writes value, of type tr_type(type), to a register (or a vector's component; or nothing for
 * `_`). A wider register gets it sign-extended for signed types and zero-extended otherwise
 * (PTX ISA "Operand Size Exceeding Instruction-Type Size"). Of a pair p|q: the first. */
void tr_set_operand(struct tr_ctx *ctx, const struct ptx_operand *operand, enum ptx_type type,
                    LLVMValueRef value);
void tr_set(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index, enum ptx_type type,
            LLVMValueRef value);

/* Whether the operand is a number in the text, or a register that was given one since the last
 * label: nvcc moves many of its constants to registers. Loads of registers do not show it before
 * they have become values. */
bool tr_is_constant(const struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index,
                    uint64_t *bits);

/* The register has been written by this instruction with this value. */
void tr_note_constant(struct tr_ctx *ctx, const struct ptx_operand *operand, LLVMValueRef value);

/* The parts of a vector operand {a, b}, of a whole vector register, or the operand itself.
 * Returns how many, at most TR_MAX_VECTOR. */
#define TR_MAX_VECTOR 8
unsigned tr_vector_parts(const struct ptx_operand *operand,
                         struct ptx_operand parts[TR_MAX_VECTOR]);

/* The second of a pair p|q, always a predicate (i1); nothing when the operand is no pair. */
void tr_set_second(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index,
                   LLVMValueRef predicate);

/* Memory that passes make SSA of, and that is 0 before it is written. */
LLVMValueRef tr_register_memory(struct tr_ctx *ctx, LLVMTypeRef type, const char *name);

/* Same bits, other type of the same width. */
LLVMValueRef tr_bitcast(struct tr_ctx *ctx, LLVMValueRef value, LLVMTypeRef type);

/* The integer in this width: truncated, or sign- or zero-extended. */
LLVMValueRef tr_resize(struct tr_ctx *ctx, LLVMValueRef value, unsigned bits, bool is_signed);

/* ---- code ---- */

/* A block of the current function, behind the others; named "<name>.<line>". */
LLVMBasicBlockRef tr_new_block(struct tr_ctx *ctx, const char *name);

void tr_add_attribute(struct tr_ctx *ctx, LLVMValueRef function, const char *name, uint64_t value);

/* Ends the block with rt_fault(status, address), address an i64. */
void tr_call_fault(struct tr_ctx *ctx, enum pxr_status status, LLVMValueRef address);

/* rt_fault(status, address) when the condition (i1) holds. */
void tr_fault_if(struct tr_ctx *ctx, LLVMValueRef condition, enum pxr_status status,
                 LLVMValueRef address);

/* An alloca in the entry block; not initialised. */
LLVMValueRef tr_alloca(struct tr_ctx *ctx, LLVMTypeRef type, unsigned align, const char *name);

/* A call of a function of translator/rt, which is linked in and inlined. Its C prototype may use
 * uint32_t, int32_t, uint64_t, int64_t, float, double, __int128 and pointers only. */
LLVMValueRef tr_call_helper(struct tr_ctx *ctx, const char *name, LLVMTypeRef result,
                            const LLVMValueRef *args, unsigned arg_count);

/* tr_helper(ctx, "rt_fma_rm", ctx->f32, a, b, c) */
#define tr_helper(ctx, name, result, ...)                                                          \
    tr_call_helper(ctx, name, result, (const LLVMValueRef[]){__VA_ARGS__},                         \
                   (unsigned)(sizeof((const LLVMValueRef[]){__VA_ARGS__}) / sizeof(LLVMValueRef)))

/* tr_placeholder(ctx, RT_CALL_ELECT, ctx->thread, mask) */
LLVMValueRef tr_call_placeholder(struct tr_ctx *ctx, enum rt_placeholder placeholder,
                                 const LLVMValueRef *args, unsigned arg_count);

#define tr_placeholder(ctx, placeholder, ...)                                                      \
    tr_call_placeholder(                                                                           \
        ctx, placeholder, (const LLVMValueRef[]){__VA_ARGS__},                                     \
        (unsigned)(sizeof((const LLVMValueRef[]){__VA_ARGS__}) / sizeof(LLVMValueRef)))

/* A call of an LLVM intrinsic, overloaded on types (may be NULL with type_count 0). */
LLVMValueRef tr_intrinsic(struct tr_ctx *ctx, const char *name, LLVMTypeRef *types,
                          unsigned type_count, LLVMValueRef *args, unsigned arg_count);

/* ---- missing barriers (table_fence.c) ---- */

/* The fence of the function being made at which its block has to meet, as the program relies on all
 * threads' stores to shared memory behind it; NULL: there is none. */
const struct ptx_inst *tr_find_table_fence(const struct tr_ctx *ctx);

/* begin_inside.c: at the beginning of a kernel whose blocks may begin inside. */
void tr_leave_out_first_threads(struct tr_ctx *ctx);

/* ---- addresses (emit_address.c) ----
 * In registers: global, const, param, local and generic addresses are host addresses; shared
 * addresses are 32-bit offsets, signed, into the block's shared memory, which may lead to that of
 * other blocks of its cluster (RT_CLUSTER_DISTANCE_LOG2). */

/* The address of a symbol within its own space, as i64. */
LLVMValueRef tr_symbol_address(struct tr_ctx *ctx, const struct ptx_operand *operand);

/* The host address (ptr) of an address operand in this space. */
LLVMValueRef tr_address(struct tr_ctx *ctx, const struct ptx_operand *operand,
                        enum ptx_space space);

/* The address in this space whose low half is `low`, an i32; for spaces that a program can address
 * with 32 bits. */
LLVMValueRef tr_widen_address(struct tr_ctx *ctx, LLVMValueRef low, enum ptx_space space);

/* As tr_address for an access of this many bytes; a misaligned one faults if
 * options->check_alignment. */
LLVMValueRef tr_access_address(struct tr_ctx *ctx, const struct ptx_operand *operand,
                               enum ptx_space space, unsigned access_bytes);

/* A field of struct rt_launch that is a pointer, or a number of 64 bits taken for one; it does not
 * change while the thread runs. */
LLVMValueRef tr_launch_pointer(struct tr_ctx *ctx, size_t offset);

/* The same for struct rt_block. */
LLVMValueRef tr_block_pointer(struct tr_ctx *ctx, size_t offset);

/* The memory (an alloca) of a .local or .param variable declared inside the function. */
LLVMValueRef tr_own_memory(struct tr_ctx *ctx, const struct ptx_var *var);

/* emit_check.c. What accesses of a space are compared with: what may be accessed there, or what has
 * been written. */
enum tr_bounds_kind { TR_BOUNDS_ACCESS, TR_BOUNDS_WRITTEN };
struct tr_bounds {
    LLVMValueRef begin;
    LLVMValueRef size_bytes;
    LLVMValueRef shadow;
};
struct tr_bounds tr_bounds_of(struct tr_ctx *ctx, enum ptx_space space, enum tr_bounds_kind kind);

/* The same file. With options->checks_memory: before an access of this many bytes to the operand's
 * address (ptr); to a range of memory, whose length (an integer) need not be known. operand: NULL
 * if the address is another one. */
void tr_check(struct tr_ctx *ctx, const struct ptx_operand *operand, LLVMValueRef pointer,
              enum ptx_space space, unsigned bytes, enum rt_access what);
void tr_check_range(struct tr_ctx *ctx, const struct ptx_operand *operand, LLVMValueRef pointer,
                    enum ptx_space space, LLVMValueRef bytes, enum rt_access what);

/* The checks of races are told of it, too. */
void tr_check_and_tell_range(struct tr_ctx *ctx, const struct ptx_operand *operand,
                             LLVMValueRef pointer, enum ptx_space space, LLVMValueRef bytes,
                             enum rt_access what);

/* emit_race.c. With options->checks_races: before an access of so many bytes (an i64); value: what
 * is written, an integer, or NULL. */
void tr_race_access(struct tr_ctx *ctx, LLVMValueRef pointer, enum ptx_space space,
                    LLVMValueRef bytes, unsigned what, LLVMValueRef value);
/* The same of an object in shared memory, by one of its own operations: its scope says whom that
 * orders, and not whose operations it is atomic with. */
void tr_race_object(struct tr_ctx *ctx, LLVMValueRef object, LLVMValueRef bytes, unsigned what);
/* What others learn of the thread that read what it writes at this address (ptr), before it does;
 * and what it learns itself, behind a read. */
/* Whether an atom.cas of the function has this address: a plain read there guesses what it will
 * find, and a loop tries again if it was wrong. CUDA's programming guide has it so. */
bool tr_race_is_guess(const struct tr_ctx *ctx, const struct ptx_operand *address);
void tr_race_release(struct tr_ctx *ctx, LLVMValueRef pointer, bool is_ordered);
void tr_race_acquire(struct tr_ctx *ctx, LLVMValueRef pointer, bool is_ordered);
void tr_race_fence(struct tr_ctx *ctx);
/* What the thread has begun to copy becomes a group (RT_RACE_COMMIT), or is there but for so many
 * groups; or all of it is there. */
void tr_race_copies(struct tr_ctx *ctx, LLVMValueRef groups);
void tr_race_all_copies(struct tr_ctx *ctx);
/* Around a barrier, and behind an operation of lanes (i32 all). */
void tr_race_arrive(struct tr_ctx *ctx, LLVMValueRef id, LLVMValueRef count);
void tr_race_leave(struct tr_ctx *ctx, LLVMValueRef id);
void tr_race_lanes(struct tr_ctx *ctx, LLVMValueRef mask);

/* emit_meeting.c. With options->checks_meetings: before a barrier; before an operation of the lanes
 * in a mask (i32), in this mode; before a shuffle; and, when all functions have been emitted,
 * before ends of threads. */
void tr_meet_barrier(struct tr_ctx *ctx, LLVMValueRef id, LLVMValueRef count);
void tr_meet_lanes(struct tr_ctx *ctx, enum rt_placeholder operation, uint32_t mode,
                   LLVMValueRef mask);
void tr_meet_source(struct tr_ctx *ctx, enum rt_shfl mode, LLVMValueRef b, LLVMValueRef c,
                    LLVMValueRef mask);
void tr_meet_ends(struct tr_ctx *ctx);

/* emit_written.c. With options->checks_written: behind a read of so many bytes (RT_WRITTEN_MAX at
 * most) at the address (ptr), and before a write of them; both return the value to go on with. */
LLVMValueRef tr_read_value(struct tr_ctx *ctx, LLVMValueRef value, LLVMValueRef pointer,
                           enum ptx_space space, unsigned bytes);
LLVMValueRef tr_write_value(struct tr_ctx *ctx, LLVMValueRef value, LLVMValueRef pointer,
                            enum ptx_space space, unsigned bytes);
/* emit_own_array.c. The same for .local memory. */
LLVMValueRef tr_read_own(struct tr_ctx *ctx, LLVMValueRef value, LLVMValueRef pointer,
                         unsigned bytes);
LLVMValueRef tr_write_own(struct tr_ctx *ctx, LLVMValueRef value, LLVMValueRef pointer,
                          unsigned bytes);
/* The first of them in two steps; the first gives NULL where nothing is asked. */
LLVMValueRef tr_ask_written(struct tr_ctx *ctx, LLVMValueRef pointer, enum ptx_space space,
                            unsigned bytes, enum rt_access what);
LLVMValueRef tr_as_read(struct tr_ctx *ctx, LLVMValueRef value, LLVMValueRef asked);
/* Before memory of any length (an integer) is used (what: RT_ACCESS_VALUE or
 * RT_ACCESS_ATOMIC_VALUE), written, or copied to other memory, whose address may be of any space.
 */
void tr_use_range(struct tr_ctx *ctx, LLVMValueRef pointer, enum ptx_space space,
                  LLVMValueRef bytes, enum rt_access what);
void tr_write_range(struct tr_ctx *ctx, LLVMValueRef pointer, enum ptx_space space,
                    LLVMValueRef bytes);
void tr_copy_range(struct tr_ctx *ctx, LLVMValueRef target, LLVMValueRef source,
                   LLVMValueRef bytes);
/* emit_number.c. With options->checks_numbers: emits the instruction, follows where numbers that
 * went wrong get to, and tells if they are used; of a predicate that decides whether an instruction
 * is executed; something else is written to a register. */
void tr_number_emit(struct tr_ctx *ctx, const struct ptx_inst *inst, tr_emit_fn emit);
void tr_number_decides(struct tr_ctx *ctx, const struct ptx_operand *predicate);
void tr_number_forget(struct tr_ctx *ctx, const struct ptx_operand *operand);

/* emit_mbarrier.c: the mbarrier at this operand (ptr). */
LLVMValueRef tr_mbarrier_object(struct tr_ctx *ctx, const struct ptx_operand *operand,
                                enum ptx_space space);

/* The same: so many transactions (an i32) of the mbarrier at this operand have completed. */
void tr_complete_transactions(struct tr_ctx *ctx, const struct ptx_operand *operand,
                              enum ptx_space space, LLVMValueRef count);

/* Where the words of the block's warps are (rt_warp_fn in kernel_abi/rt.h). */
LLVMValueRef tr_words_base(struct tr_ctx *ctx);

/* Whether the operand is a parameter of the kernel, by name. */
bool tr_is_kernel_param(struct tr_ctx *ctx, const struct ptx_operand *operand);

/* Where the block's shared memory begins. */
LLVMValueRef tr_shared_base(struct tr_ctx *ctx);

/* A field of 32 bits of struct rt_launch or rt_block that does not change while the thread runs, as
 * an i64. */
LLVMValueRef tr_launch_number(struct tr_ctx *ctx, size_t offset);
LLVMValueRef tr_block_number(struct tr_ctx *ctx, size_t offset);

/* emit_cluster.c. i1: whether a generic address (i64) is in the shared memory of a block of the
 * cluster. */
LLVMValueRef tr_is_in_cluster(struct tr_ctx *ctx, LLVMValueRef address);

/* The place in the shared memory of the cluster's block with this rank (i32) that corresponds to
 * one in another block's. */
LLVMValueRef tr_in_block(struct tr_ctx *ctx, LLVMValueRef pointer, LLVMValueRef rank);

/* emit_control.c. When all functions have been emitted: before each end of a thread stands a call
 * of this, whose only parameter is the thread. */
void tr_call_at_ends(struct tr_ctx *ctx, enum rt_placeholder placeholder);

/* When all functions have been emitted: ends of threads leave the barrier of the cluster. */
void tr_leave_cluster_barrier(struct tr_ctx *ctx);

/* i1: whether a generic address (i64) lies in this space; of shared memory, in the cluster's. */
LLVMValueRef tr_is_in_space(struct tr_ctx *ctx, LLVMValueRef address, enum ptx_space space);

/* Counts a poll (kernel_abi/rt.h, "progress"). */
void tr_poll(struct tr_ctx *ctx);

/* Before a volatile access to shared memory: whether the lanes of the warp must come together
 * first. Reads of different lanes may be swapped; nothing else may. */
bool tr_step_needed(const struct tr_ctx *ctx, bool is_store);

/* Makes the lanes come together here, as far as they can (rt_warp_converge in kernel_abi/rt.h). */
void tr_converge(struct tr_ctx *ctx);

/* Warps that act as one thread: once, where a function begins, before each instruction. */
void tr_find_uniform_warps(struct tr_ctx *ctx);
void tr_leave_first_lane(struct tr_ctx *ctx);
void tr_keep_uniform(struct tr_ctx *ctx, const struct ptx_inst *inst);

/* Notes that all lanes of the warp have just met. inst: the instruction that made them meet; with a
 * guard some may have skipped it. */
void tr_step_met(struct tr_ctx *ctx, const struct ptx_inst *inst);

/* Notes a volatile access to shared memory. */
void tr_step_accessed(struct tr_ctx *ctx, bool is_store);

/* The function's declaration in the module; NULL, with ctx->status set, when it has no body. */
LLVMValueRef tr_function(struct tr_ctx *ctx, const struct ptx_func *func, int line);

LLVMTypeRef tr_function_type(struct tr_ctx *ctx, const struct ptx_func *func);

/* Makes the initialiser of the table of handles (emit_call.c), when all functions known so far have
 * been defined: true if it was made now, which may have declared more functions. */
bool tr_define_handle_table(struct tr_ctx *ctx);

/* emit_stack.c. At the start of a function that can recurse: rt_fault(PXR_FAULT_STACK) when little
 * stack is left. */
void tr_check_stack(struct tr_ctx *ctx);

/* The block of a label. */
LLVMBasicBlockRef tr_label_block(struct tr_ctx *ctx, const struct ptx_label *label);

#endif
