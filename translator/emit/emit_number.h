/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of numbers: what is known of an instruction when it has been emitted, and the origin that
 * its result then has. Private to translator/.
 */
#ifndef PTXRUN_TRANSLATOR_EMIT_EMIT_NUMBER_H
#define PTXRUN_TRANSLATOR_EMIT_EMIT_NUMBER_H

#include "translator/emit/origin.h"

#define TR_WATCHED 4

/* Of sources: as they were before the instruction, by position behind the destination. */
struct tr_watch {
    struct tr_ctx *ctx;
    const struct ptx_inst *inst;
    enum rt_number_operation operation;
    enum ptx_type type; /* of sources */
    unsigned count;
    LLVMValueRef values[TR_WATCHED]; /* NULL: not wanted */
    struct tr_origin origins[TR_WATCHED];
};

/* The origin of the result. */
typedef struct tr_origin (*tr_follow_fn)(const struct tr_watch *watch);

/* Where all sources meet, from `first` on. */
struct tr_origin tr_meet_sources(const struct tr_watch *watch, unsigned first);

/* An origin that begins here, with the sources as operands; kind: i32. */
struct tr_origin tr_begin_origin(const struct tr_watch *watch, LLVMValueRef kind);

/* number_float.c: operations on floating-point numbers that may go wrong; on those that choose, or
 * change the sign; comparisons; conversions. */
struct tr_origin tr_follow_float(const struct tr_watch *watch);
struct tr_origin tr_follow_division(const struct tr_watch *watch);
struct tr_origin tr_follow_chosen(const struct tr_watch *watch);
struct tr_origin tr_follow_comparison(const struct tr_watch *watch);
struct tr_origin tr_follow_conversion(const struct tr_watch *watch);

/* number_integer.c: operations that may wrap around; that keep a wrapped number what it is; that
 * cut it. */
struct tr_origin tr_follow_wrapping(const struct tr_watch *watch);
struct tr_origin tr_follow_kept(const struct tr_watch *watch);
struct tr_origin tr_follow_cut(const struct tr_watch *watch);

/* The origin of a number that is extended from 32 to 64 bits. */
struct tr_origin tr_follow_extended(struct tr_ctx *ctx, const struct tr_origin *origin,
                                    bool is_signed);

#endif
