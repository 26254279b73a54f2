/* SPDX-License-Identifier: Apache-2.0
 *
 * The `ops` command of ptxdump.
 */
#ifndef PTXRUN_TOOLS_PTXDUMP_OPS_H
#define PTXRUN_TOOLS_PTXDUMP_OPS_H

enum ptxdump_format {
    PTXDUMP_TEXT,
    PTXDUMP_MARKDOWN, /* the page docs/instructions.md */
    PTXDUMP_JSON      /* {"version": 1, "ops": [{"name", "form", "types", "ptx", "target", "family",
                         "fidelity", "proved_by"}]} */
};

/* Prints every row of the op table to standard output, by family. */
void ptxdump_ops(enum ptxdump_format format);

#endif
