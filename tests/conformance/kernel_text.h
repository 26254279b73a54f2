/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX around cases that read the same kinds of inputs: a kernel that goes through all samples, and
 * a bare form of each for the oracle.
 */
#ifndef PTXRUN_TESTS_CONFORMANCE_KERNEL_TEXT_H
#define PTXRUN_TESTS_CONFORMANCE_KERNEL_TEXT_H

#include "tests/conformance/case.h"

#define CONF_BATCH 16

/* The layout of the two buffers of a kernel (in, out). The first word of `in` is the number of
 * samples. */
struct conf_layout {
    size_t in_offsets[CONF_MAX_INPUTS];
    size_t in_bytes;
    size_t out_offsets[CONF_BATCH][CONF_MAX_OUTPUTS];
    size_t out_bytes;
};

unsigned conf_out_bytes(const struct conf_case *made, unsigned output);

void conf_layout_make(struct conf_layout *layout, const struct conf_case *cases, unsigned count,
                      size_t samples);

#define CONF_KERNEL "conformance"

/* malloc; NULL when out of memory. lines: first and last line of each case's instructions in the
 * text, 1-based; may be NULL. serial: 0, or a number that makes the text different. */
char *conf_kernel_text(const struct conf_case *cases, unsigned count,
                       const struct conf_layout *layout, int lines[][2], uint64_t serial);

/* The same with the inputs' samples as constants, one behind the other, instead of a loop. */
char *conf_known_text(const struct conf_case *cases, unsigned count,
                      const struct conf_layout *layout, const struct conf_inputs *inputs);

/* One kernel per case, case<n>, that only holds the registers and the instructions. */
char *conf_bare_text(const struct conf_case *cases, unsigned count);

#endif
