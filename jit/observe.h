/* SPDX-License-Identifier: Apache-2.0
 *
 * Looking on while the steps of translator/pipeline.def run: dumps behind them, times, leaving some
 * out. Inside libptxrun-compile.so.
 */
#ifndef PTXRUN_JIT_OBSERVE_H
#define PTXRUN_JIT_OBSERVE_H

#include "jit/dump.h"
#include "jit/jit.h"
#include "translator/pipeline.h"

/* The options of observing; as in struct jit_request. Zero-initialise. Owned by one compilation. */
struct jit_watch {
    struct jit_dump dump;
    const char *skip;
    uint64_t step_limit;
    bool verifies;
    struct jit_step_times *times; /* NULL: nobody wants them */
    uint64_t start_ns;            /* of the step that runs */
    uint64_t before;              /* instructions then */
    uint32_t number;              /* of the next dump */
};

/* An observer for a compilation; watch outlives it. */
struct tr_observer jit_observer(struct jit_watch *watch);

#endif
