/* SPDX-License-Identifier: Apache-2.0
 *
 * From a checked kernel to callable code. Compiling lives in libptxrun-compile.so (with LLVM,
 * opened at the first use); loading is our own and needs no LLVM.
 */
#ifndef PTXRUN_JIT_JIT_H
#define PTXRUN_JIT_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jit/build_id.h"
#include "kernel_abi/rt.h"
#include "ptx/ptx.h"
#include "translator/module/launch_facts.h"
#include "util/error.h"
#include "util/options.h"

/* The kind of code that is wanted of a kernel. Facts about the launch are promises of the
 * caller. */
struct jit_variant {
    enum pxr_collapse collapse; /* the one asked for; jit_object.collapse is the outcome */
    uint32_t width;             /* threads in a vector, a power of two, 2 to 64; 0: chosen */
    uint32_t jam;               /* vectors side by side, 1 to 32; 0: chosen */
    bool is_quick;              /* code of the quick tier: compiling is cheap, running is not */
    bool has_fast_matrices;     /* products of matrices may be rounded otherwise if that gains */
    const char *without; /* static: a step that this code does without, as in jit_request.skip;
                            NULL: none. For who makes requests */
    struct tr_facts facts;
};

/* Runs a function on a thread where the signals of faults are open. False: it has faulted, and was
 * left. */
typedef bool (*jit_guard_fn)(void (*run)(void *argument), void *argument);

struct jit_request {
    const struct ptx_module *module;
    const struct ptx_func *kernel;
    const struct ptx_kernel_layout *layout;
    struct jit_variant variant;
    /* The PTX is written as for dump "ptx", and the code says in which folder it lies. */
    bool is_debugged;
    bool checks_memory;      /* the code calls rt_check_failed before bad accesses */
    bool checks_races;       /* the code calls rt_race_… */
    bool checks_meetings;    /* the code calls rt_meet_… */
    bool checks_written;     /* the code knows what has been written, and calls rt_check_failed
                                before it uses anything else */
    bool checks_numbers;     /* the code calls rt_number */
    bool tells_source_lines; /* to debuggers and profilers, where the PTX has .loc */
    const char *dump;        /* comma-separated kinds: ptx, ir, opt, asm; NULL or "": none */
    const char *dump_dir;    /* files <dump_dir>/<kernel>.<kind> */
    /* About the steps in translator/pipeline.def: */
    const char *skip;    /* comma-separated names of steps to leave out; NULL or "": none */
    uint64_t step_limit; /* optional steps run only while the process has run fewer; 0: no limit */
    bool times_steps;    /* fills jit_object.steps */
    bool verifies_steps; /* checks the module behind each */
    bool is_talkative;   /* the compiler logs at PXR_LOG_INFO, too */
    /* Where LLVM faults, the code is not made, and the process goes on; NULL: it ends. */
    jit_guard_fn guard;
};

/* The cost of the steps of one name in a compilation. */
struct jit_step_time {
    const char *name; /* static */
    uint32_t count;   /* how often they ran */
    uint64_t ns;      /* CPU time */
    uint64_t before;  /* instructions of the module, before and after them */
    uint64_t after;
};

/* In the order in which they ran. */
struct jit_step_times {
    struct jit_step_time *steps; /* malloc */
    uint32_t count;
};

/* A relocatable ELF object with one function `ptxrun_kernel` (void (struct rt_thread *) if collapse
 * is PRECISE, otherwise an rt_fused_fn), all constants it needs, no absolute address and a
 * .debug_line section (DWARF 5) that maps code to PTX lines. */
struct jit_object {
    uint8_t *bytes; /* malloc; jit_object_fini frees */
    size_t size_bytes;
    uint64_t translate_ns; /* CPU time of PTX -> IR, IR -> IR, IR -> object */
    uint64_t optimise_ns;
    uint64_t codegen_ns;
    bool is_warm;         /* other code was made before, in this process: LLVM was set up */
    uint32_t frame_bytes; /* stack of the kernel and its deepest direct callee chain, if known;
                             0: not known */
    enum pxr_collapse collapse; /* never AUTO; VECTOR if at least one loop is over vectors */
    uint32_t width;             /* of the widest vectors of threads; 0: there are none */
    uint32_t jam;               /* and so many of them side by side; 0 likewise */
    uint64_t frame_fixed_bytes; /* of fused kernels: the terms of jit_code_frame_bytes */
    uint64_t frame_warp_bytes;
    uint64_t frame_thread_bytes;
    bool may_wait;               /* sch_code.may_wait … */
    bool waits_again;            /* … again and again, in a loop that does more than wait */
    bool hands_over;             /* sch_code.hands_over */
    bool flushes;                /* sch_code.flushes */
    char *explanation;           /* malloc, may be NULL; lines of text. The first is a sentence:
                                    what has become of the threads, and why. Those that begin with
                                    a tab are details */
    uint32_t instructions;       /* of PTX: of the kernel and all that it reaches … */
    bool has_float_atomics;      /* … and whether atomic operations on floats are among them */
    struct jit_step_times steps; /* empty unless asked for */
};

#define JIT_KERNEL_SYMBOL "ptxrun_kernel"

/* Opens the compile library if need be. Thread-safe; several threads may compile at once.
 * Errors: PXR_NO_COMPILER, PXR_UNSUPPORTED (instruction, kernel and PTX line named),
 * PXR_COMPILE_FAILED, PXR_OUT_OF_MEMORY, PXR_NOT_FOUND (unresolved extern). */
enum pxr_status jit_compile(const struct jit_request *request, struct jit_object *object,
                            struct pxr_error *err);
void jit_object_fini(struct jit_object *object);

/* Whether the kernel can be translated: its first stage only, with the same errors. */
enum pxr_status jit_check(const struct jit_request *request, struct pxr_error *err);

/* The compile library's build id, without opening it unless it is open already. False: it has none
 * or cannot be found. */
bool jit_compiler_id(struct jit_build_id *id);

/* What code is made for on this machine with the option cpu, as text: two machines with the same
 * text get the same code. Opens the compile library. The caller frees *text. */
enum pxr_status jit_compiler_target(char **text, struct pxr_error *err);

/* A function that generated code may call besides the whitelist of jit/symbols.c. */
struct jit_symbol {
    const char *name;
    void *address;
};

/* Loaded code. */
struct jit_code;

/* How code is loaded. */
struct jit_loading {
    const char *kernel;             /* its name, for messages, debuggers and profilers */
    const void *owner;              /* code of one owner, a PTX module, makes one library of ORC's;
                                       NULL: a library of its own */
    const struct jit_symbol *extra; /* the same for all code of an owner */
    size_t extra_count;
    /* Takes a fresh object before it is linked; NULL: nobody wants it. */
    void (*keep)(void *argument, const struct jit_object *object);
    void *keep_argument;
};

/* Maps text and constants in one piece, relocates, and makes it executable and read-only; --loader
 * says by whom. Refuses (PXR_COMPILE_FAILED) any undefined symbol that is neither in jit/symbols.c
 * nor in `extra`, and any relocation it does not know. The object is not needed afterwards.
 * Thread-safe. */
enum pxr_status jit_load(const struct jit_object *object, const struct jit_loading *loading,
                         struct jit_code **code, struct pxr_error *err);
/* Compiles and loads; *object is the caller's as after jit_compile. Errors of both. */
enum pxr_status jit_make(const struct jit_request *request, const struct jit_loading *loading,
                         struct jit_object *object, struct jit_code **code, struct pxr_error *err);
void jit_unload(struct jit_code *code); /* nothing may be running in it */

/* The code for a struct sch_grid. The kernel for one thread, or NULL, … */
typedef void (*jit_kernel_fn)(struct rt_thread *thread);
jit_kernel_fn jit_code_entry(const struct jit_code *code);
/* … and for blocks, with the bytes that blocks of so many threads need as rt_block.frame; or NULL
 * and 0. */
rt_fused_fn jit_code_fused(const struct jit_code *code);
uint64_t jit_code_frame_bytes(const struct jit_code *code, uint32_t threads);
bool jit_code_may_wait(const struct jit_code *code);
bool jit_code_hands_over(const struct jit_code *code);
bool jit_code_flushes(const struct jit_code *code);
uintptr_t jit_code_text(const struct jit_code *code); /* where the executable part begins */
size_t jit_code_text_bytes(const struct jit_code *code);
_Atomic(uint32_t) *jit_code_pace(struct jit_code *code); /* for sch_grid.pace */

/* PTX line of the instruction at pc, 0 when pc is not in this code or has no line. */
int jit_code_line(const struct jit_code *code, uintptr_t pc);

/* ---- between libptxrun.so and libptxrun-compile.so ---- */

#define JIT_COMPILER_ABI   10
#define JIT_COMPILER_ENTRY "ptxrun_compiler"

/* Code that ORC links. The rules and the memory are the host's, libptxrun.so's: what the functions
 * get is host_argument. They may be called on other threads than the one that asked. */
struct jit_link {
    const char *symbol; /* the variant's name, which no other code of the owner has */
    const void *owner;
    const struct jit_request *request; /* what to compile; NULL: *object is there */
    struct jit_object *object;
    /* All that the owner's code may call. */
    const struct jit_symbol *whitelist;
    size_t whitelist_count;
    const struct jit_symbol *extra;
    size_t extra_count;
    bool writes_jitdump; /* for perf; decided at the first link of the process */
    void *host_argument;
    /* Takes *object as it has come; hands back (malloc) what is to be linked, which defines
     * `symbol`. */
    enum pxr_status (*admit)(void *host_argument, uint8_t **bytes, size_t *size_bytes,
                             struct pxr_error *err);
    /* Memory for a section; NULL: there is none. */
    uint8_t *(*allocate)(void *host_argument, const char *section, size_t size_bytes,
                         size_t alignment, bool is_text);
    bool (*protect)(void *host_argument);
};

/* What is linked. */
struct jit_linked;

struct jit_compiler {
    uint32_t abi; /* JIT_COMPILER_ABI */
    const char *llvm_version;
    /* object == NULL: only check. */
    enum pxr_status (*compile)(const struct jit_request *request, struct jit_object *object,
                               struct pxr_error *err);
    enum pxr_status (*describe_target)(char **text, struct pxr_error *err);
    /* *address: the symbol's. When it fails, nothing of it is left; the memory is the host's in any
     * case. */
    enum pxr_status (*link)(const struct jit_link *link, struct jit_linked **linked,
                            uint64_t *address, struct pxr_error *err);
    void (*unlink)(struct jit_linked *linked);
};

typedef const struct jit_compiler *(*jit_compiler_entry_fn)(void);

#endif
