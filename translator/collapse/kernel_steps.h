/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of tr_kernel_build that have files of their own.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_KERNEL_STEPS_H
#define PTXRUN_TRANSLATOR_COLLAPSE_KERNEL_STEPS_H

#include "kernel_abi/rt.h"
#include "translator/collapse/collapse.h"

/* Fills sync_points and sync_count from the graph. */
enum pxr_status tr_find_sync_points(struct tr_kernel *kernel, struct pxr_error *err);

/* Fills regions from the graph and sync_points. */
enum pxr_status tr_find_regions(struct tr_kernel *kernel, struct pxr_error *err);

#endif
