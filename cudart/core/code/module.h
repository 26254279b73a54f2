/* SPDX-License-Identifier: Apache-2.0
 *
 * Libraries, modules and kernels.
 *
 * A library is an image and the PTX module made of it; it belongs to the process. A module is the
 * library's variables in one context. A kernel is an entry of the library; its handle serves as
 * CUkernel and as CUfunction, and its attributes are the same in every context.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_MODULE_H
#define PTXRUN_CUDART_CORE_CODE_MODULE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/key.h"
#include "cudart/core/base/object.h"
#include "cudart/core/base/result.h"
#include "cudart/core/code/tier.h"
#include "jit/jit.h"
#include "jit/variant.h"
#include "ptx/outline.h"
#include "ptx/place.h"
#include "ptx/source.h"

struct crt_architecture;
struct crt_context;
struct crt_reference;

/* What the threads of a kernel became. */
struct crt_form {
    enum pxr_collapse collapse; /* never AUTO */
    uint32_t width;             /* as in struct jit_object */
    uint32_t jam;
    uint32_t without;   /* the step of tuning that is left out (choice.c); 0: none */
    bool begins_inside; /* as struct tr_facts has it */
};

struct crt_trial;

/* Compiled code of a kernel for one set of launch facts. */
struct crt_variant {
    struct jit_variant key;
    struct jit_code *code;
    struct crt_form form;
    uint64_t code_hash;      /* of best code's object */
    bool adds_floats;        /* by atomic operations */
    bool waits_again;        /* jit_object.waits_again */
    uint32_t stack_bytes;    /* without room for recursion */
    uint64_t price_ns;       /* of quick code: the CPU time that compiling the kernel's best code
                                should take (price.h) */
    uint64_t cost_ns;        /* that compiling this took, here or where it was made */
    uint64_t took_ns;        /* here; 0: it was in the cache */
    struct crt_trial *trial; /* that it is part of, NULL: none; its first variant owns it */
};

struct crt_kernel {
    struct crt_object object;
    struct crt_library *library;
    const struct ptx_outline_kernel *outline;
    const struct ptx_func *func; /* the outline's head: it has no body */

    pthread_mutex_t lock;            /* guards the code; held while the first of it is compiled */
    bool is_checked;                 /* by crt_kernel_check */
    pthread_mutex_t source_lock;     /* guards source and layout until source is there */
    const struct ptx_func *source;   /* in the library's ptx; NULL until something is compiled */
    struct ptx_kernel_layout layout; /* of source */
    struct jit_variants variants;    /* best code: of struct crt_variant; read without the lock */
    _Atomic(struct crt_variant *) quick; /* code for all launches, or NULL; likewise */
    struct crt_variant *ahead;           /* what quick is to be, if it comes to that; or NULL */
    struct crt_rent rent;

    _Atomic int max_dynamic_shared; /* function attributes that can be set; -1: not set */
    _Atomic int carveout;
    _Atomic int cache_config;
    _Atomic int required_cluster[3]; /* 0: not set, or the kernel's own is */
    _Atomic int non_portable_cluster;
    _Atomic int cluster_policy;
    atomic_uint registers;             /* an estimate (device_report.c), or 0 */
    atomic_bool is_wanted;             /* someone has asked for the kernel's code */
    struct crt_old_launch *old_launch; /* of cuParamSetv and the like, or NULL; guarded by lock */
    struct crt_recorded *recorded;     /* record.c's, or NULL */
};

#define CRT_OLD_PARAM_BYTES 4096

/* The next launch of a kernel, as functions from before CUDA 4.0 assemble it. */
struct crt_old_launch {
    uint32_t block[3];
    uint32_t shared_bytes;
    size_t param_bytes;
    uint8_t params[CRT_OLD_PARAM_BYTES];
};

/* The variables of a library in one context. */
struct crt_module {
    struct crt_object object;
    struct crt_library *library;
    struct crt_context *ctx;
    uintptr_t storage; /* one allocation with every variable, 0 if there is none */
    void **slots;      /* by ptx_var.index */
    struct crt_module *next_in_ctx;
    struct crt_module *next_in_library;
};

struct crt_library {
    struct crt_object object;
    pthread_mutex_t lock; /* guards opening, parsing, managed storage and the making of modules */
    const void *image;    /* readable until it is opened; if it is preserved, for good */
    size_t image_bytes;   /* PTX_IMAGE_SIZE_UNKNOWN when nobody knows */
    bool is_preserved;
    bool is_opened;
    bool is_reported;       /* open_result is known to the program */
    atomic_bool is_offered; /* to be compiled ahead (background.c) */
    enum crt_result open_result;
    struct pxr_error error;      /* why open_result is not CRT_SUCCESS */
    struct ptx_outline *outline; /* once it is opened; never changed */
    struct ptx_source *source;   /* what ptx is made of; NULL once that is there */
    struct ptx_module *ptx;      /* made when something is compiled */
    atomic_uint holds;           /* of its memory; those of who has loaded it are one */
    atomic_bool is_closed;       /* unloaded: its handles are dead */
    struct crt_kernel **kernels; /* entries with a body, in module order */
    uint32_t kernel_count;
    uintptr_t *managed;         /* by ptx_var.index, 0 for other variables */
    bool is_private;            /* of a cuModuleLoad: dies with its module */
    struct crt_context *home;   /* for a private one: the context in which its functions can be
                                   launched */
    struct crt_module *modules; /* guarded by the lock in module.c */
    char name[96];              /* for messages */
    char foreign_code[256];     /* with --check=device, what it has for others; "": enough */
    struct cache_key recorded;  /* the PTX as record.c has stored it, if is_recorded */
    bool is_recorded;
};

CRT_API_BEGIN

/* ---- libraries ---- */

/* is_preserved: the image stays readable until the library is unloaded, so it can be opened at the
 * first use; otherwise it is opened now. *err gets the sentence for a failure. */
enum crt_result crt_library_load(const void *image, size_t image_bytes, bool is_preserved,
                                 struct crt_library **library, struct pxr_error *err);
enum crt_result crt_library_load_file(const char *path, struct crt_library **library,
                                      struct pxr_error *err);

/* Waits for its kernels. CRT_NOT_PERMITTED from a host function; does nothing when the process
 * exits. */
enum crt_result crt_library_unload(struct crt_library *library);
bool crt_library_is_valid(const struct crt_library *library);

/* Keeps the PTX, the kernels and their code in memory, also when the library is unloaded meanwhile,
 * until it is let go. To hold it, it must be known not to be unloaded. */
void crt_library_hold(struct crt_library *library);
void crt_library_let_go(struct crt_library *library);
bool crt_library_is_closed(const struct crt_library *library);

/* Describes the library's contents as lines for the information log of the compiler; the library
 * must have been opened. Returns the length, at most cap - 1. */
size_t crt_library_describe(const struct crt_library *library, char *text, size_t cap);

/* Says once for each closed library of NVIDIA's that it is not supported, if address is in its
 * file: later failures would be hard to understand. */
void crt_vendor_note(const void *address);

/* These open it at the first use: what is in the image is known from then on. CRT_NOT_FOUND when
 * there is no such name. */
enum crt_result crt_library_open(struct crt_library *library);
enum crt_result crt_library_get_kernel(struct crt_library *library, const char *name,
                                       struct crt_kernel **kernel);
enum crt_result crt_library_get_managed(struct crt_library *library, const char *name,
                                        uintptr_t *address, size_t *size_bytes);

/* ---- modules ---- */

/* The library's module in a context, made at the first call. */
enum crt_result crt_module_get(struct crt_library *library, struct crt_context *ctx,
                               struct crt_module **module);
enum crt_result crt_module_get_global(struct crt_module *module, const char *name,
                                      uintptr_t *address, size_t *size_bytes);
/* The reference that a variable of opaque type is; mark: RT_TEXTURE_MARK or RT_SURFACE_MARK. */
enum crt_result crt_module_get_reference(struct crt_module *module, uint32_t mark, const char *name,
                                         struct crt_reference **reference);
bool crt_module_is_valid(const struct crt_module *module);

/* ---- kernels ---- */
bool crt_kernel_is_valid(const struct crt_kernel *kernel);
const char *crt_kernel_name(const struct crt_kernel *kernel);

/* Function attributes by their number in the driver API. */
enum crt_result crt_kernel_get_attribute(struct crt_kernel *kernel, int attribute, int *value);
enum crt_result crt_kernel_set_attribute(struct crt_kernel *kernel, int attribute, int value);

/* Lazy loading as programs see it: a kernel is loaded once it was launched, asked for by name or
 * loaded; always under CUDA_MODULE_LOADING=EAGER. crt_kernel_load also compiles it, or says why
 * it cannot. */
bool crt_kernel_is_loaded(const struct crt_kernel *kernel);
void crt_kernel_want(struct crt_kernel *kernel);
enum crt_result crt_kernel_load(struct crt_kernel *kernel);

/* Writes bytes into the kernel's old launch, at an offset in struct crt_old_launch; INVALID_VALUE
 * beyond its end. Thread-safe. */
enum crt_result crt_kernel_put_old(struct crt_kernel *kernel, size_t offset, const void *bytes,
                                   size_t count);
/* A copy of it; an empty launch when nothing was set. */
void crt_kernel_get_old(struct crt_kernel *kernel, struct crt_old_launch *launch);

/* Offset and size of a parameter; CRT_INVALID_VALUE beyond the last. */
enum crt_result crt_kernel_param(const struct crt_kernel *kernel, size_t index, size_t *offset,
                                 size_t *size_bytes);

/* Occupancy, consistent with the limits of a launch. */
enum crt_result crt_kernel_blocks_per_sm(struct crt_kernel *kernel, int block_threads,
                                         size_t dynamic_shared_bytes, int *blocks);
int crt_blocks_per_sm(const struct crt_architecture *architecture, uint32_t block_threads,
                      size_t shared_bytes);
enum crt_result crt_kernel_available_shared(struct crt_kernel *kernel, int blocks,
                                            int block_threads, size_t *bytes);

CRT_API_END

/* crt_library_load for an image out of the file of that path; NULL: nobody knows. */
enum crt_result crt_library_load_named(const void *image, size_t image_bytes, bool is_preserved,
                                       const char *path, struct crt_library **library,
                                       struct pxr_error *err);

/* Ends every module of a context. */
void crt_module_destroy_all(struct crt_context *ctx);

/* Waits until nothing runs in the contexts that have a module of the library: its code and
 * variables may be in use. */
enum crt_result crt_module_wait_idle(struct crt_library *library);

/* Ends every module of a library, in whatever context. */
void crt_module_destroy_library(struct crt_library *library);

/* Whether the PTX of a library has been parsed, or had to be parsed to open it, which this does
 * without a word about errors. */
bool crt_library_is_parsed(struct crt_library *library);

/* Parses the PTX of a library that is open, unless that is done. */
enum pxr_status crt_library_open_ptx(struct crt_library *library, struct pxr_error *err);

struct crt_kernel *crt_kernel_create(struct crt_library *library,
                                     const struct ptx_outline_kernel *outline);
void crt_kernel_destroy(struct crt_kernel *kernel);

/* What launches must know of the kernel besides its head; an error, which is reported, if it cannot
 * be laid out. */
enum crt_result crt_kernel_needs(struct crt_kernel *kernel, const struct ptx_kernel_needs **needs);

/* Fills in what compiling the kernel reads: module, kernel and layout of the request. The PTX is
 * parsed if it is not yet. */
enum pxr_status crt_kernel_open(struct crt_kernel *kernel, struct jit_request *request,
                                struct pxr_error *err);

/* Bytes of the module's constant variables. */
int crt_library_const_bytes(const struct crt_library *library);

/* Bytes of the kernel's static shared variables. */
uint32_t crt_static_shared(const struct ptx_kernel_needs *needs);

/* Most dynamic shared memory a launch may ask for. */
size_t crt_kernel_dynamic_limit(const struct crt_kernel *kernel);

/* Blocks per cluster in each direction, from .reqnctapercluster or attributes; 0: not set. */
void crt_kernel_required_cluster(const struct crt_kernel *kernel, uint32_t cluster[3]);

/* Most threads per block, from .maxntid and .reqntid or the device. */
int crt_kernel_max_threads(const struct crt_kernel *kernel);

/* ---- code of kernels (kernel_code.c) ---- */

/* Code for a launch, compiled at need by the calling thread; *facts: those of the launch. A
 * cooperative one gets no quick code that it would have to end in. Other
 * threads that need code of the same kernel and have none yet wait; no other lock is held. */
enum crt_result crt_kernel_code(struct crt_kernel *kernel, const struct jit_launch *launch,
                                bool is_cooperative, struct tr_facts *facts,
                                const struct crt_variant **variant);

/* The best code for launches with these facts (trial.h); NULL if there is none. Takes no lock. */
const struct crt_variant *crt_kernel_best(const struct crt_kernel *kernel,
                                          const struct tr_facts *facts);

/* Makes best code for launches with these facts, and for those that come later. The kernel has
 * quick code, and who has settled its rent calls this, alone. If it fails, which is logged, the
 * rent stays settled. */
void crt_kernel_make_best(struct crt_kernel *kernel, const struct tr_facts *facts);

/* Makes quick code for a first launch that may come, if there is no code; returns whether there was
 * none. What is wrong with the kernel is for that launch to say. */
bool crt_kernel_make_ahead(struct crt_kernel *kernel);

bool crt_kernel_has_code(const struct crt_kernel *kernel);

/* PTX line of an instruction in any code of the kernel, or 0. */
int crt_kernel_line(const struct crt_kernel *kernel, uintptr_t pc);

/* The first instruction in this line of its PTX, or NULL. */
const struct ptx_inst *crt_kernel_inst(struct crt_kernel *kernel, int line);

/* Whether an instruction of the family stands in this line of its PTX. */
bool crt_kernel_line_has(struct crt_kernel *kernel, int line, enum ptx_family family);

/* The place in the source of a line of its PTX, which is parsed if it is not yet; false: there is
 * none, or the library has been unloaded. *place points into the library. */
bool crt_kernel_find_place(struct crt_kernel *kernel, int line, struct ptx_place *place);

/* The same of where inlined code was called (ptx_find_caller). */
bool crt_kernel_find_caller(struct crt_kernel *kernel, int line, unsigned depth,
                            struct ptx_place *place);

/* Whether the kernel can be translated; says why not as crt_kernel_code would. */
enum crt_result crt_kernel_check(struct crt_kernel *kernel);

void crt_variants_destroy(struct crt_kernel *kernel);

/* Compiling a small kernel takes so much memory. The compiler ends the process when it gets
 * none. */
#define CRT_COMPILE_BYTES ((size_t)48 << 20)

/* What the options ask of code for these facts. */
struct jit_variant crt_variant_key(const struct tr_facts *facts);

/* What the compiler is asked for, before crt_kernel_open. */
struct jit_request crt_kernel_request(const struct crt_kernel *kernel,
                                      const struct jit_variant *key);

/* The facts that most launches will have in common, before there is a launch: blocks of one row of
 * whole warps, unless .reqntid says otherwise. */
void crt_kernel_expect(const struct crt_kernel *kernel, struct tr_facts *facts);

/* The lines of crt_library_describe for any module. */
size_t crt_describe_outline(const struct ptx_outline *outline, const char *name, char *text,
                            size_t cap);

/* The variable of the library's that begins last at or before the address, and where; NULL: none,
 * or it has no memory in this context. */
const struct ptx_var *crt_module_nearest(struct crt_library *library, const struct crt_context *ctx,
                                         uintptr_t address, uintptr_t *base);

#endif
