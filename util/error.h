/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors as values: a status for the program and one sentence for the person.
 */
#ifndef PTXRUN_UTIL_ERROR_H
#define PTXRUN_UTIL_ERROR_H

#include <stdarg.h>
#include <stdint.h>

/* Kinds of failure, independent of any API; cudart/ translates them to CUresult in one table. */
enum pxr_status {
    PXR_OK = 0,
    PXR_OUT_OF_MEMORY,
    PXR_INVALID_ARGUMENT,
    PXR_NOT_FOUND,        /* a kernel, variable, file or entry of that name does not exist */
    PXR_IO,               /* the operating system refused a file operation */
    PXR_BAD_IMAGE,        /* corrupt or truncated ELF, fat binary or compressed payload */
    PXR_BAD_PTX,          /* PTX text that is not well formed */
    PXR_NEWER_PTX,        /* the same, and of a later version of PTX than is known */
    PXR_NO_PTX,           /* image is intact but holds no PTX to translate */
    PXR_UNSUPPORTED,      /* well-formed, but something in it is not implemented */
    PXR_OUT_OF_RESOURCES, /* launch asks for more threads, parameters or shared memory than exist */
    PXR_COMPILE_FAILED,   /* LLVM or the object loader refused; a defect of ours */
    PXR_NO_COMPILER,      /* libptxrun-compile.so cannot be opened */
    PXR_FAULT_ADDRESS,    /* a kernel touched memory it may not */
    PXR_FAULT_MISALIGNED, /* a kernel used a misaligned address */
    PXR_FAULT_TRAP,       /* a kernel executed trap */
    PXR_FAULT_ASSERT,     /* a device-side assert failed */
    PXR_FAULT_INSTRUCTION, /* a kernel executed an illegal instruction */
    PXR_FAULT_PC,          /* a kernel called through a bad function pointer */
    PXR_FAULT_STACK,       /* a kernel overflowed its stack */
    PXR_FAULT_DEADLOCK,    /* every thread of a block waits for another */
    PXR_FAULT_TIMEOUT,     /* a kernel took longer than it may */
    PXR_STATUS_COUNT
};

#define PXR_ERROR_MESSAGE_BYTES 4096

struct pxr_error {
    enum pxr_status status;
    int line;                              /* 1-based line in the PTX text, 0 if none applies */
    int column;                            /* 1-based, 0 if none applies */
    char message[PXR_ERROR_MESSAGE_BYTES]; /* one sentence, no trailing newline; may be several
                                              lines when a source excerpt with caret follows */
};

/* Fills *err (which may be NULL) and returns status, so that callers write
 * `return pxr_fail(err, PXR_BAD_IMAGE, "%s: …", path);`. Truncates over-long messages. */
enum pxr_status pxr_fail(struct pxr_error *err, enum pxr_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As pxr_fail, with a position in PTX text. */
enum pxr_status pxr_fail_at(struct pxr_error *err, enum pxr_status status, int line, int column,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Puts "context: " before the message already in *err; keeps status and position. */
void pxr_error_prefix(struct pxr_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Short lower-case name of a status, such as "bad image". */
const char *pxr_status_name(enum pxr_status status);

#endif
