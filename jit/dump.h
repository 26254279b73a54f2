/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the results of the stages for a kernel to files, for --dump.
 */
#ifndef PTXRUN_JIT_DUMP_H
#define PTXRUN_JIT_DUMP_H

#include <stdbool.h>
#include <stddef.h>

#include <llvm-c/Types.h>

struct jit_dump {
    const char *kinds;  /* comma-separated; NULL or "": nothing is written */
    const char *dir;    /* NULL: the current directory */
    const char *kernel; /* mangled name */
};

/* Whether this kind ("ptx", "ir", "collapse", "opt", "asm", "after:STEP") was asked for. */
bool jit_dump_wants(const struct jit_dump *dump, const char *kind);

#define JIT_DUMP_NAME_BYTES 256

/* "<kernel>.<suffix>", as a file is called. */
void jit_dump_name(const struct jit_dump *dump, const char *suffix, char name[JIT_DUMP_NAME_BYTES]);

/* Writes <dir>/<kernel>.<suffix>. Names too long for a file are cut and end in a hash of the
 * whole name. A failure is logged; it never fails the compilation. */
void jit_dump_write(const struct jit_dump *dump, const char *suffix, const char *text, size_t len);

/* The same with a module's text. */
void jit_dump_module(const struct jit_dump *dump, LLVMModuleRef module, const char *suffix);

#endif
