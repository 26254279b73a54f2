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

#include "ptx/ptx.h"
#include "scheduler/rt.h"
#include "util/error.h"
#include "util/options.h"

/* Which code is wanted of a kernel. Facts about the launch are promises of the caller. */
struct jit_variant {
    enum pxr_collapse collapse;
    uint32_t block[3]; /* block shape as a compile-time fact; all 0: not known */
};

struct jit_request {
    const struct ptx_module *module;
    const struct ptx_func *kernel;
    const struct ptx_kernel_layout *layout;
    struct jit_variant variant;
    const char *dump;     /* comma-separated kinds: ptx, ir, opt, asm; NULL or "": none */
    const char *dump_dir; /* files <dump_dir>/<kernel>.<kind> */
};

/* A relocatable ELF object with one function `ptxrun_kernel` (void (struct rt_thread *)), all
 * constants it needs, no absolute address and a .debug_line section (DWARF 5) that maps code to PTX
 * lines. */
struct jit_object {
    uint8_t *bytes; /* malloc; jit_object_fini frees */
    size_t size_bytes;
    uint64_t translate_ns; /* CPU time of PTX -> IR, IR -> IR, IR -> object */
    uint64_t optimise_ns;
    uint64_t codegen_ns;
    uint32_t frame_bytes; /* stack of the kernel and its deepest direct callee chain, if known;
                             0: not known */
};

#define JIT_KERNEL_SYMBOL "ptxrun_kernel"

/* Opens the compile library if need be. Thread-safe; several threads may compile at once.
 * Errors: PXR_NO_COMPILER, PXR_UNSUPPORTED (instruction, kernel and PTX line named),
 * PXR_COMPILE_FAILED, PXR_OUT_OF_MEMORY, PXR_NOT_FOUND (unresolved extern). */
enum pxr_status jit_compile(const struct jit_request *request, struct jit_object *object,
                            struct pxr_error *err);
void jit_object_fini(struct jit_object *object);

/* A function that generated code may call besides the whitelist of jit/symbols.c. */
struct jit_symbol {
    const char *name;
    void *address;
};

/* Loaded code. */
struct jit_code;

/* Maps text and constants in one piece, relocates, and makes it executable and read-only. Refuses
 * (PXR_COMPILE_FAILED) any undefined symbol that is neither in jit/symbols.c nor in `extra`, and
 * any relocation it does not know. The object is not needed afterwards. Thread-safe. */
enum pxr_status jit_load(const struct jit_object *object, const char *kernel_name,
                         const struct jit_symbol *extra, size_t extra_count, struct jit_code **code,
                         struct pxr_error *err);
void jit_unload(struct jit_code *code); /* nothing may be running in it */

typedef void (*jit_kernel_fn)(struct rt_thread *thread);
jit_kernel_fn jit_code_entry(const struct jit_code *code);

/* PTX line of the instruction at pc, 0 when pc is not in this code or has no line. */
int jit_code_line(const struct jit_code *code, uintptr_t pc);

/* ---- between libptxrun.so and libptxrun-compile.so ---- */

#define JIT_COMPILER_ABI   1
#define JIT_COMPILER_ENTRY "ptxrun_compiler"

struct jit_compiler {
    uint32_t abi; /* JIT_COMPILER_ABI */
    const char *llvm_version;
    enum pxr_status (*compile)(const struct jit_request *request, struct jit_object *object,
                               struct pxr_error *err);
};

typedef const struct jit_compiler *(*jit_compiler_entry_fn)(void);

#endif
