/* SPDX-License-Identifier: Apache-2.0
 *
 * The way of a kernel: the table of steps (pipeline.def), and the functions that run it. Used
 * inside libptxrun-compile.so only.
 *
 * tr_translate_kernel makes the program of ONE thread, tr_make_block the program of a block,
 * tr_make_code the input of the code generator. Each runs the steps of its stage, in the order of
 * the table.
 */
#ifndef PTXRUN_TRANSLATOR_PIPELINE_H
#define PTXRUN_TRANSLATOR_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/TargetMachine.h>

#include "translator/barriers/barriers.h"
#include "translator/collapse/collapse_options.h"
#include "translator/collapse/collapsing.h"
#include "translator/emit/emission.h"
#include "translator/facts/assume_facts.h"
#include "translator/module/marks.h"
#include "translator/module/module_steps.h"
#include "translator/module/passes.h"
#include "translator/vector/vector.h"

enum tr_stage { TR_STAGE_THREAD, TR_STAGE_BLOCK, TR_STAGE_CODE };

enum tr_step_kind { TR_STEP_REQUIRED, TR_STEP_OPTIMISATION, TR_STEP_TUNING };

enum tr_step_id {
#define STEP(ID, name, stage, kind, collapses, efforts, condition, does, promises, purpose)        \
    TR_STEP_##ID,
#include "translator/pipeline.def"
#undef STEP
    TR_STEP_COUNT
};

/* Properties of a module; a step promises some of them to the next (verify.c checks). */
enum tr_form {
    TR_FORM_LINKED = 1,  /* no helper of translator/rt lacks its body */
    TR_FORM_DEFINED = 2, /* no operand is undefined or poison */
    TR_FORM_SREGS = 4,   /* no special register is a placeholder */
    TR_FORM_LOOPS =
        8, /* each loop has one way back, and a block before it that leads nowhere else */
    TR_FORM_BYTES = 16, /* nothing of less than a byte is kept in memory */
};

struct tr_promises {
    uint32_t makes; /* TR_MARKS(…): marks that may exist from here on … */
    uint32_t ends;  /* … and marks that no longer exist */
    uint32_t leaves;
};
#define TR_MARKS(ID) (UINT32_C(1) << TR_MARK_##ID)

struct tr_compilation;

typedef enum pxr_status (*tr_step_fn)(struct tr_compilation *compilation, struct pxr_error *err);

struct tr_step {
    const char *name;
    const char *purpose;
    const char *condition_name;
    enum tr_stage stage;
    enum tr_step_kind kind;
    uint32_t collapses; /* 1 << enum pxr_collapse */
    uint32_t efforts;   /* 1 << enum tr_effort */
    bool (*condition)(const struct tr_compilation *compilation);
    tr_step_fn run;     /* or, if NULL, … */
    const char *passes; /* … LLVM's, … */
    bool is_of_kernel;  /* … of the kernel's function only */
    struct tr_promises promises;
};

/* By enum tr_step_id. */
extern const struct tr_step tr_steps[TR_STEP_COUNT];

/* An observer of the steps: all may be NULL. Called on the compiling thread. */
struct tr_observer {
    void *data;
    /* Whether the step of this name may run. Asked of steps of the table that are not required, and
     * of the steps of tuning inside `vectorise`. */
    bool (*may_run)(void *data, const char *name);
    void (*before)(void *data, const struct tr_step *step, LLVMModuleRef module);
    void (*after)(void *data, const struct tr_step *step, LLVMModuleRef module);
    bool verifies; /* checks the module and the promises behind every step: PXR_COMPILE_FAILED */
};

/* One compilation on its way. Zero-initialise; the caller sets the first part. Owned by one thread.
 * Ends with tr_compilation_fini, which leaves the module. */
struct tr_compilation {
    LLVMModuleRef module;            /* the caller's, once it exists */
    const struct ptx_func *kernel;   /* NULL: there are no facts */
    struct tr_budget *budget;        /* never NULL */
    LLVMTargetMachineRef machine;    /* may be NULL before tr_make_code */
    bool lacks_halves;               /* it has no conversions between f16 and f32 */
    bool lacks_multiply_adds;        /* nor fused operations of f32 */
    bool has_roundings;              /* its vectors are rounded as each instruction says */
    bool has_whole_loads;            /* it makes a load of an atomic load of 16 bytes */
    const struct ptx_module *places; /* whose .loc become locations; NULL: they are PTX lines */
    struct tr_observer observer;

    /* the steps' own */
    enum pxr_collapse collapse; /* the one asked for at first, then the kernel's */
    const struct tr_source *source;
    struct tr_ctx *emission;
    struct tr_collapse_options options;
    struct tr_collapsing collapsing;
    struct tr_barrier_report barriers;
    struct tr_streaming streaming;
    struct tr_vector_report vectors;
    bool has_private_order; /* tr_has_private_order */
    bool has_samplers;      /* of a known shape */
    bool may_vectorise;     /* the budget allows it */
    uint32_t marks;         /* that may exist now */
};
void tr_compilation_fini(struct tr_compilation *compilation);

/* The program of one thread. Errors: PXR_UNSUPPORTED, PXR_NOT_FOUND (unresolved extern function or
 * variable), PXR_COMPILE_FAILED (a defect of ours), PXR_OUT_OF_MEMORY; then there is no module. */
enum pxr_status tr_make_thread(struct tr_compilation *compilation, const struct tr_source *source,
                               struct pxr_error *err);

/* The program of a block. The options are not forced: where they would be wrong or take too long
 * the kernel gets another collapse, and result->explanation says why. options->facts and ->budget
 * need not be set. The caller frees result->explanation. Errors: PXR_COMPILE_FAILED,
 * PXR_OUT_OF_MEMORY. */
enum pxr_status tr_make_block(struct tr_compilation *compilation, const struct tr_facts *facts,
                              const struct tr_collapse_options *options,
                              struct tr_collapsed *result, struct pxr_error *err);

/* The input of the code generator, from a module of which `collapse` is true. Errors as before. */
enum pxr_status tr_make_code(struct tr_compilation *compilation, enum pxr_collapse collapse,
                             struct pxr_error *err);

/* tr_make_thread for callers that need nothing else; options->budget may be NULL. On success the
 * caller owns *module, made in context. */
enum pxr_status tr_translate_kernel(const struct ptx_module *ptx, const struct ptx_func *kernel,
                                    const struct ptx_kernel_layout *layout,
                                    const struct tr_options *options, LLVMContextRef context,
                                    LLVMModuleRef *module, struct pxr_error *err);

/* verify.c: whether the module is well formed, and keeps the step's promises. marks: those that may
 * exist. Errors: PXR_COMPILE_FAILED, with the step's name. */
enum pxr_status tr_verify_step(LLVMModuleRef module, const struct tr_step *step, uint32_t marks,
                               struct pxr_error *err);

#endif
