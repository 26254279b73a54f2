/* SPDX-License-Identifier: Apache-2.0
 *
 * Output of kernels. Text is kept with the launch while it runs, and written to standard output at
 * synchronisation points: launches in launch order, within one by block, within a block in the
 * order printed. So the output is the same for any number of workers.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_PRINTF_H
#define PTXRUN_CUDART_CORE_CODE_PRINTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/code/launch.h"

/* Formats as device printf does: args holds each argument at its natural alignment. The caller
 * frees *text; NULL when out of memory. Returns the number of arguments consumed. */
int crt_format(const char *format, const uint8_t *args, char **text, size_t *len);

/* Adds text to a running launch. */
void crt_printf_add(struct crt_launch *launch, uint64_t block, const char *text, size_t len);

/* Adds the message of a failed assertion. */
void crt_assert_add(struct crt_launch *launch, uint64_t block, const char *text, size_t len);

/* The launch has ended: writes the messages of its failed assertions to standard error, in order
 * of blocks. Returns whether there were any. */
bool crt_assert_report(struct crt_launch *launch);

/* The launch has ended: its text is ready to be written. */
void crt_printf_collect(struct crt_launch *launch);

/* The launch has ended: nobody is to see its text, and what its assertions say. */
void crt_printf_drop(struct crt_launch *launch);

/* Writes the output of launches that have ended. */
void crt_printf_flush(void);

#endif
