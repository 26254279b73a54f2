/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of --explain, of a kernel whose block has been made.
 */
#ifndef PTXRUN_TRANSLATOR_EXPLAIN_H
#define PTXRUN_TRANSLATOR_EXPLAIN_H

#include "translator/pipeline.h"

/* Lines. The first is a sentence: what has become of the threads, and why. Those that begin with a
 * tab are details. asked: for which collapse. *text: malloc. Fails with PXR_OUT_OF_MEMORY. */
enum pxr_status tr_explain(const struct tr_compilation *compilation, enum pxr_collapse asked,
                           char **text, struct pxr_error *err);

#endif
