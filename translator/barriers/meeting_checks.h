/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of barriers and operations of warps (rt_meet_… in kernel_abi/placeholders.def) that cannot
 * find anything go.
 */
#ifndef PTXRUN_TRANSLATOR_BARRIERS_MEETING_CHECKS_H
#define PTXRUN_TRANSLATOR_BARRIERS_MEETING_CHECKS_H

#include <stdbool.h>

#include <llvm-c/Types.h>

#include "translator/module/launch_facts.h"
#include "util/error.h"

/* Whether the module has any but those at ends of threads, which alone find nothing. */
bool tr_has_meeting_checks(LLVMModuleRef module);

/* facts may be NULL. Errors: PXR_OUT_OF_MEMORY. */
enum pxr_status tr_drop_meeting_checks(LLVMModuleRef module, const struct tr_facts *facts,
                                       struct pxr_error *err);

#endif
