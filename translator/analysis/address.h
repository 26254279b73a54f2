/* SPDX-License-Identifier: Apache-2.0
 *
 * What an address is: where its memory comes from, what it is the sum of, and how it moves from
 * one iteration, thread or row to the next. Pure queries: no function here emits code.
 */
#ifndef PTXRUN_TRANSLATOR_ANALYSIS_ADDRESS_H
#define PTXRUN_TRANSLATOR_ANALYSIS_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Types.h>

#include "translator/analysis/analysis.h"

/* ---- records of the run time (address_record.c) ----
 *
 * The structures of scheduler/rt.h that generated code finds through its first argument: struct
 * rt_thread in the program of one thread, struct rt_block in fused code. */

enum tr_record {
    TR_RECORD_NONE,
    TR_RECORD_THREAD,
    TR_RECORD_BLOCK,
    TR_RECORD_LAUNCH,
    TR_RECORD_PARAMS, /* the kernel's parameters */
    TR_RECORD_SLOTS   /* addresses of the module's variables */
};

/* Which of them a pointer is the beginning of, if the function's first argument points to `first`.
 */
enum tr_record tr_record_at(LLVMValueRef pointer, enum tr_record first);

/* What a load reads. */
struct tr_field {
    enum tr_record record; /* TR_RECORD_NONE: no part of a record */
    bool has_offset;       /* the offset is constant */
    uint64_t offset;       /* in bytes, from the record's beginning */
};

/* TR_RECORD_NONE for what is no load. */
struct tr_field tr_field_of(LLVMValueRef load, enum tr_record first);
bool tr_is_field(LLVMValueRef load, enum tr_record first, enum tr_record record, uint64_t offset);

#endif
