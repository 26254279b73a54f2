/* SPDX-License-Identifier: Apache-2.0
 *
 * A PTX module in memory: the parser makes it, and all later parts read it.
 *
 * All objects of a module live in its arena and are immutable once ptx_parse or ptx_link has
 * returned, so any number of threads may read them.
 */
#ifndef PTXRUN_PTX_PTX_H
#define PTXRUN_PTX_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/ops.h"
#include "util/arena.h"
#include "util/error.h"
#include "util/str.h"

struct ptx_func;
struct ptx_var;

enum ptx_space {
    PTX_SPACE_NONE, /* in an access: generic */
    PTX_SPACE_REG,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_CONST,
    PTX_SPACE_SHARED,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM
};

enum ptx_linkage {
    PTX_LINKAGE_INTERNAL,
    PTX_LINKAGE_EXTERN,
    PTX_LINKAGE_VISIBLE,
    PTX_LINKAGE_WEAK,
    PTX_LINKAGE_COMMON
};

/* An address inside an initialiser: at offset_bytes of the variable's bytes goes the address
 * of var or func plus addend, size_bytes wide (mask(…) picks fewer bytes, shifted right). */
struct ptx_reloc {
    size_t offset_bytes;
    unsigned size_bytes;
    unsigned shift_bits;
    bool is_generic; /* generic(symbol): the generic address, not the one within its space */
    const struct ptx_var *var; /* one of the two is set */
    const struct ptx_func *func;
    int64_t addend;
};

/* The qualifiers before the name of a variable, in the order in which they may be written. */
enum ptx_qualifier {
    PTX_QUALIFIER_NONE,
    PTX_QUALIFIER_SPACE,
    PTX_QUALIFIER_ATTRIBUTE,
    PTX_QUALIFIER_ALIGN,
    PTX_QUALIFIER_VECTOR,
    PTX_QUALIFIER_TYPE,
    PTX_QUALIFIER_PTR,
    PTX_QUALIFIER_COUNT
};

/* How a declaration was written, as far as the values do not say it; for printing. Each text may be
 * empty: then the value's normal form is as good. All are parts of the module's text. */
struct ptx_var_text {
    uint32_t order;         /* enum ptx_qualifier in 4 bits each, first lowest; 0: as in the enum */
    struct pxr_str linkage; /* ".visible" */
    struct pxr_str space;   /* ".const[2]", ".tex" */
    struct pxr_str attribute; /* "(.managed)" */
    struct pxr_str align;     /* "16" */
    struct pxr_str ptr_align; /* "16", of .ptr */
    struct pxr_str dims;      /* "[4][2]"; of a range: "<9>" */
    struct pxr_str init;      /* behind "=" */
};

/* A variable in any state space, registers and parameters included. */
struct ptx_var {
    const char *name; /* as written; expanded for a register range, "%r7" */
    enum ptx_space space;
    enum ptx_type type;
    unsigned vector_len; /* 1, 2, 4 or 8 */
    uint64_t elem_count; /* 1 for scalars; product of the dimensions of an array */
    bool is_array;
    bool is_unsized; /* name[]: extern shared (dynamic) or extern global */
    bool is_managed; /* .attribute(.managed) */
    bool is_module_scope;
    bool is_input_param;          /* parameters: of the argument list, not of the result list */
    bool is_pointer;              /* parameters: .ptr, with its description of the target */
    enum ptx_space pointee_space; /* NONE: generic */
    uint32_t pointee_align_bytes; /* 0 if not given */
    enum ptx_linkage linkage;
    uint32_t align_bytes;        /* .align or natural */
    uint64_t size_bytes;         /* type * vector_len * elem_count; 0 when unsized */
    uint32_t index;              /* in module->vars, or dense within the function (func->vars) */
    uint32_t param_offset_bytes; /* entry parameters: position in the parameter block */
    const uint8_t *init_bytes;   /* size_bytes long, or NULL: zero */
    const struct ptx_reloc *relocs;
    uint32_t reloc_count;
    int line;
    const struct ptx_var_text *written; /* NULL: made by the linker */
};

/* %r<9> declares %r0 … %r8, each a variable of its own, like model. Registers come into being when
 * they are named, variables in memory at once. */
struct ptx_var_range {
    struct ptx_var model; /* its name is the prefix */
    uint64_t count;
};

enum ptx_sreg {
    PTX_SREG_NONE,
#define SREG(ID, ...) PTX_SREG_##ID,
#include "ptx/sregs.def"
#undef SREG
    PTX_SREG_COUNT
};

struct ptx_sreg_info {
    const char *name; /* with the percent sign and component: "%tid.x" */
    enum ptx_type type;
};

extern const struct ptx_sreg_info ptx_sreg_table[PTX_SREG_COUNT];

struct ptx_label {
    const char *name;
    uint32_t index; /* dense within the function */
    int line;
};

enum ptx_operand_kind {
    PTX_OPERAND_REG,     /* var, a register */
    PTX_OPERAND_SREG,    /* sreg */
    PTX_OPERAND_INT,     /* bits: two's complement, 64 bits */
    PTX_OPERAND_FLOAT,   /* bits: IEEE double; is_single: IEEE single in the low 32 bits (0f…) */
    PTX_OPERAND_VAR,     /* the address of var (any space but reg) plus offset */
    PTX_OPERAND_FUNC,    /* func: its handle, or the callee */
    PTX_OPERAND_LABEL,   /* label */
    PTX_OPERAND_LABELS,  /* name of a .branchtargets list: labels, label_count */
    PTX_OPERAND_ADDRESS, /* [base + offset]; base: elems[0], a REG, INT or VAR operand */
    PTX_OPERAND_VECTOR,  /* {a, b, …}: elems, elem_count */
    PTX_OPERAND_PAIR,    /* p|q: elems[0], elems[1] */
    PTX_OPERAND_SUM,     /* a + offset, as a value: elems[0], a REG or SREG of bits, or a VAR */
    PTX_OPERAND_SINK     /* _ */
};

struct ptx_operand {
    enum ptx_operand_kind kind : 8;
    bool is_negated : 1; /* !p; in video instructions -r */
    bool is_single : 1;  /* FLOAT */
    bool is_bare : 1;    /* ADDRESS: without brackets, name[3] */
    bool is_indexed : 1; /* ADDRESS: name[r + 3]: elems[1], a register, counts elements of elems[0]
                          */
    bool is_unified : 1; /* ADDRESS: .unified behind it */
    uint8_t component;   /* v.x of a vector register: 1..4 for x..w, 0 for the whole */
    uint8_t lane_bits;   /* video instructions, r.b2, r.h1, r.b3210: 8 or 16; 0: all of r */
    uint8_t lane_count;
    uint8_t lanes[4]; /* the digits, from the right */
    union {
        uint32_t elem_count;  /* VECTOR, PAIR, SUM, ADDRESS (1, or more with parts as in tex) */
        uint32_t label_count; /* LABELS */
    };
    int column;
    union {
        const struct ptx_var *var;
        const struct ptx_func *func;
        const struct ptx_label *label;
        const struct ptx_label *const *labels;
        const struct ptx_operand *elems;
        enum ptx_sreg sreg;
        uint64_t bits;
    };
    int64_t offset; /* VAR, ADDRESS; SUM: added in the width of its base */
    /* As written, where there are several ways; may be empty. INT, FLOAT: all of it. VAR, ADDRESS,
     * SUM: what follows the name or base, "[3]" or "+8". REG: "r" of v.r. SREG and VECTOR: the name
     * of a special register when it is an alias or a whole vector, "%tid". LABELS: the list's name.
     */
    struct pxr_str text;
};

/* Operands of a call: call (rets), callee, (args), prototype. */
struct ptx_call {
    const struct ptx_operand *rets;
    uint32_t ret_count;
    const struct ptx_operand *args;
    uint32_t arg_count;
    struct ptx_operand callee;        /* FUNC, or REG for an indirect call */
    const struct ptx_func *prototype; /* of an indirect call; a body-less func */
    struct pxr_str prototype_name;    /* of the .callprototype or .calltargets, as written */
    bool has_ret_list;                /* parentheses were written, perhaps with nothing inside */
    bool has_arg_list;
};

#define PTX_MAX_TYPES 5
#define PTX_MAX_MODS  16

struct ptx_inst {
    enum ptx_op op;
    struct pxr_str text; /* opcode with all suffixes as written: "ld.global.nc.v4.f32" */
    int line;            /* 1-based in the module's text */
    int column;
    const struct ptx_var *guard; /* @p, NULL if none */
    bool guard_negated;
    uint8_t type_count;
    uint8_t mod_count;
    enum ptx_type types[PTX_MAX_TYPES];
    enum ptx_mod mods[PTX_MAX_MODS]; /* in the order written */
    uint64_t groups;                 /* union over mods, PTX_GROUP_BIT */
    uint32_t operand_count;
    const struct ptx_operand *operands;
    const struct ptx_call *call; /* PTX_OP_CALL only */
};

enum ptx_stmt_kind {
    PTX_STMT_INST,
    PTX_STMT_LABEL,
    PTX_STMT_VAR,   /* declaration: var */
    PTX_STMT_RANGE, /* declaration of numbered names: range; their variables are in func->vars */
    PTX_STMT_BLOCK_BEGIN, /* { */
    PTX_STMT_BLOCK_END,   /* } */
    PTX_STMT_DIRECTIVE    /* .loc, .pragma, .branchtargets, .callprototype, ";" in a row: text */
};

struct ptx_stmt {
    enum ptx_stmt_kind kind : 8;
    bool is_continued : 1; /* VAR, RANGE: ", name" in the declaration that the one before began */
    int line;
    union {
        struct ptx_inst inst;
        const struct ptx_label *label;
        const struct ptx_var *var;
        const struct ptx_var_range *range;
        struct pxr_str text;
    };
};

/* How the head of a function was written, for printing; see struct ptx_var_text. */
struct ptx_func_text {
    struct pxr_str linkage;
    struct pxr_str before; /* directives between .func and the name */
    struct pxr_str tuning; /* directives behind the parameters */
    bool has_ret_list;     /* parentheses were written, perhaps with nothing inside */
    bool has_param_list;
    bool has_semicolon; /* behind a declaration */
};

struct ptx_func {
    const char *name;
    bool is_entry;
    bool has_body;
    bool is_noreturn;
    enum ptx_linkage linkage;
    uint32_t index; /* in module->funcs */
    bool is_address_taken;
    int64_t handle; /* see ptx_func_handle; 0 when the address is never taken */
    const struct ptx_var *const *params;
    uint32_t param_count;
    const struct ptx_var *const *rets;
    uint32_t ret_count;
    uint32_t param_bytes;         /* entries: size of the parameter block */
    uint32_t max_threads[3];      /* .maxntid, 0 if not given */
    uint32_t required_threads[3]; /* .reqntid, 0 if not given */
    uint32_t min_blocks_per_sm;   /* .minnctapersm, 0 if not given */
    uint32_t max_blocks_per_sm;   /* .maxnctapersm, 0 if not given */
    uint32_t max_registers;       /* .maxnreg, 0 if not given */
    bool needs_cluster;           /* .reqnctapercluster or .explicitcluster */
    bool is_explicit_cluster;     /* .explicitcluster */
    bool has_block_clusters;      /* .blocksareclusters */
    bool has_abi_preserve;
    bool has_abi_preserve_control;
    uint32_t cluster_blocks[3];  /* .reqnctapercluster, 0 if not given */
    uint32_t max_cluster_blocks; /* .maxclusterrank, 0 if not given */
    uint32_t abi_preserve;
    uint32_t abi_preserve_control;
    const struct ptx_stmt *stmts;
    uint32_t stmt_count;
    const struct ptx_var *const *vars; /* every register, local, shared and param variable
                                          declared inside, by index */
    uint32_t var_count;
    uint32_t label_count;
    int line;
    const struct ptx_func_text *written; /* NULL: made by the linker */
};

enum ptx_item_kind {
    PTX_ITEM_VERSION, /* text; the values are the module's */
    PTX_ITEM_TARGET,
    PTX_ITEM_ADDRESS_SIZE,
    PTX_ITEM_DIRECTIVE, /* .file, .section, .pragma, .alias, …: text */
    PTX_ITEM_VAR,
    PTX_ITEM_RANGE,
    PTX_ITEM_FUNC
};

/* One directive of the module level, in the order of the text. What var and func point to is the
 * declaration as it stands there: where a name is declared again, module->vars and module->funcs
 * have the one object that all references mean. */
struct ptx_item {
    enum ptx_item_kind kind;
    int line;
    bool is_continued; /* VAR, RANGE: ", name" in the declaration that the one before began */
    union {
        struct pxr_str text;
        const struct ptx_var *var;
        const struct ptx_var_range *range;
        const struct ptx_func *func;
    };
};

enum ptx_texmode { PTX_TEXMODE_UNIFIED, PTX_TEXMODE_INDEPENDENT };

struct ptx_module {
    struct pxr_arena arena;
    const char *source_name; /* for messages: "app (fat binary 1, entry 2, compute_75)" */
    struct pxr_str text;     /* the module's own copy, without trailing NULs */
    unsigned version;        /* ISA version: major * 10 + minor */
    unsigned target;         /* 75 for sm_75 */
    char target_suffix;      /* 'a' for sm_90a, 'f' for sm_100f, else NUL */
    bool is_debug;           /* .target …, debug */
    bool maps_f64_to_f32;    /* .target …, map_f64_to_f32 */
    enum ptx_texmode texmode;
    unsigned address_bits;
    bool makes_short_addresses;          /* of local, const or param memory, in 32-bit registers:
                                            some function does */
    const struct ptx_func *const *funcs; /* entries, functions and declarations */
    uint32_t func_count;
    const struct ptx_var *const *vars; /* module-scope variables */
    uint32_t var_count;
    const struct ptx_item *items; /* the text in order; none after linking */
    uint32_t item_count;
};

/* The latest version of PTX that is completely known. A text of a later one is accepted as long as
 * it holds nothing new: newer tools mostly write old PTX. */
#define PTX_NEWEST_VERSION 90u

/* At most so many errors of a text are told. */
#define PTX_MAX_DIAGNOSTICS 20

/* Parses and checks a module. The text is copied. On success the caller owns *module.
 * On failure *module is NULL. *err has the line and column of the first error, and a message
 * with all that were found, in the order of the text: the first of the form
 * "source:line:column: error: …" with the source line and a caret, each further one in a line of
 * the same form. What does not fit is counted in a last line.
 * Errors: PXR_BAD_PTX, PXR_NEWER_PTX (the same, of a later version, which the message names),
 * PXR_OUT_OF_MEMORY. Thread-safe (no global state). */
enum pxr_status ptx_parse(struct pxr_str text, const char *source_name, struct ptx_module **module,
                          struct pxr_error *err);

void ptx_module_destroy(struct ptx_module *module);

/* Links modules (the members of an rdc array) into one that owns copies of the parts it needs; the
 * inputs stay the caller's. Rules: PTX ISA "Linking Directives"; weak duplicates keep the first,
 * common ones the largest, internal names may clash, extern shared arrays of one name are one.
 * Errors: PXR_BAD_PTX for conflicting definitions, PXR_NOT_FOUND never: remaining extern names are
 * resolved, or refused by name, when a kernel that needs them is translated. */
enum pxr_status ptx_link(const struct ptx_module *const *modules, size_t module_count,
                         const char *source_name, struct ptx_module **linked,
                         struct pxr_error *err);

/* NULL when there is none. find_entry sees only .entry functions with a body. */
const struct ptx_func *ptx_find_entry(const struct ptx_module *module, const char *name);
const struct ptx_func *ptx_find_func(const struct ptx_module *module, const char *name);
const struct ptx_var *ptx_find_var(const struct ptx_module *module, const char *name);

/* The needs of a kernel besides its code, found by walking the call graph. */
struct ptx_kernel_layout {
    struct pxr_arena arena;
    const struct ptx_func *const *reached; /* functions with bodies: callees and every function
                                              whose address is taken in the module, if the kernel
                                              can call indirectly; not the kernel itself */
    uint32_t reached_count;
    const struct ptx_var *const *shared_vars; /* static shared variables reached, and … */
    const uint32_t *shared_offsets;           /* … their offsets in the block's shared memory */
    uint32_t shared_count;
    uint32_t shared_reserved_bytes; /* at the beginning: no variable's (ptx/reserved_shared.h) */
    uint32_t shared_static_bytes;   /* with these; dynamic shared memory starts here (every unsized
                                       array) */
    uint32_t shared_align;          /* of all of the block's shared memory */
    uint32_t dynamic_shared_align;
    bool uses_dynamic_shared;
    const struct ptx_var *const *local_vars; /* module-scope .local variables reached, and … */
    const uint32_t *local_offsets;           /* … their offsets in the thread's block of them */
    uint32_t local_count;
    uint32_t local_static_bytes; /* size of that block, a multiple of 16 */
    uint32_t local_bytes; /* that, and .local of the kernel and, summed, of the functions reached */
    uint32_t local_least_bytes; /* local_static_bytes and the most .local of one function */
    bool has_recursion; /* or indirect calls, or alloca: the stack that is needed is not known */
    bool calls_runtime; /* of CUDA for kernels, which launches others */
};

/* The layout's pointers refer into the module, which must outlive it. */
enum pxr_status ptx_layout_kernel(const struct ptx_module *module, const struct ptx_func *kernel,
                                  struct ptx_kernel_layout *layout, struct pxr_error *err);
void ptx_layout_fini(struct ptx_kernel_layout *layout);

/* What GCC's code for OpenMP keeps in shared memory for each warp: whether its lanes are apart, and
 * the top of its stack. Lanes that are apart have stacks of their own, which on a GPU all have the
 * same addresses; here they have not, so each lane has its own copy, one behind the other. */
#define PTX_UNI_ARRAY    "__nvptx_uni"
#define PTX_STACKS_ARRAY "__nvptx_stacks"
#define PTX_WARP_LANES   32u
bool ptx_var_is_per_lane(const struct ptx_var *var);

/* Functions whose address the module takes (mov or initialiser), in module order. Handle of the
 * n-th: PTX_FUNC_HANDLE_BASE + n * PTX_FUNC_HANDLE_STEP. A handle is what PTX code stores and
 * calls through; 0 is the null function. Returns -1 when func's address is never taken. */
#define PTX_FUNC_HANDLE_BASE UINT64_C(0x100)
#define PTX_FUNC_HANDLE_STEP UINT64_C(0x10)
int64_t ptx_func_handle(const struct ptx_module *module, const struct ptx_func *func);

/* The modifier of this group, or PTX_MOD_NONE. */
enum ptx_mod ptx_inst_mod(const struct ptx_inst *inst, enum ptx_group group);

/* Whether this modifier is written; for those that are in no group. */
bool ptx_inst_has_word(const struct ptx_inst *inst, enum ptx_mod mod);

static inline bool ptx_inst_has(const struct ptx_inst *inst, enum ptx_group group)
{
    return (inst->groups & PTX_GROUP_BIT(group)) != 0;
}

/* The type of a register or special register, as declared; addresses have 64 bits. */
enum ptx_type ptx_operand_type(const struct ptx_operand *operand);

/* State space named by the instruction; PTX_SPACE_NONE: generic. */
enum ptx_space ptx_inst_space(const struct ptx_inst *inst);

/* 1, 2, 4 or 8. */
unsigned ptx_inst_vector_len(const struct ptx_inst *inst);

#endif
