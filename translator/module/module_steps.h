/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps that work on an LLVM module and know nothing of emitters, regions or vectors; and the names
 * of a kernel's functions.
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_MODULE_STEPS_H
#define PTXRUN_TRANSLATOR_MODULE_MODULE_STEPS_H

#include <stdbool.h>

#include <llvm-c/Types.h>

#include "ptx/ptx.h"
#include "translator/module/budget.h"
#include "translator/module/launch_facts.h"
#include "util/error.h"

#define TR_KERNEL_NAME "ptxrun_kernel"
#define TR_STEP_NAME   "ptxrun_step"

/* For the quick tier: checks of alignment ask for the low bits of what decides them (low_bits.c).
 */
void tr_ask_low_bits(LLVMModuleRef module);

/* Behind facts: signed arithmetic on counters that are never negative is unsigned (signs.c). */
void tr_use_signs(LLVMModuleRef module);

/* Whether the quotient is used as nvcc uses the number of turns of a loop that it unrolls: one
 * more, some of its digits, and compared (one_quotient.c). */
bool tr_counts_turns(LLVMValueRef quotient);

/* Numbers of turns that are divided as 32 or as 64 bits are divided once (one_quotient.c). */
void tr_divide_once(LLVMModuleRef module);

/* Behind facts: loops whose body runs equally often for all threads count so (even_trips.c). */
void tr_count_even_trips(LLVMModuleRef module);

/* Kernels in whose time the CPU flushes subnormals by itself (flushes.c): the module says so … */
void tr_note_flush_mode(LLVMModuleRef module);
bool tr_has_flush_mode(LLVMModuleRef module);

/* … and each of its functions, before LLVM's passes: they inline what is alike, and compute
 * constants as the CPU would. */
void tr_spread_flush_mode(LLVMModuleRef module);

/* Behind all passes: what is flushed anyway need not be flushed by an instruction. */
void tr_end_flushes(LLVMModuleRef module);

/* Before LLVM's loop vectoriser: hides steps that it would make wrong code of (narrow_steps.c). */
void tr_hide_narrow_steps(LLVMModuleRef module);

/* What is computed from short numbers, and fits, becomes short: as many more threads fit a vector
 * (narrow_values.c). Fails with PXR_OUT_OF_MEMORY. */
enum pxr_status tr_narrow_values(LLVMModuleRef module, struct pxr_error *err);

/* Before quick code generation, which takes time in proportion to the square of a block's length:
 * splits long blocks. No pass that would put them together again may follow. */
void tr_split_blocks(LLVMModuleRef module);

/* Conversions between f16 and f32 become arithmetic, for CPUs without instructions for them
 * (half_conversions.c). */
void tr_convert_halves(LLVMModuleRef module);

/* Fused multiply-adds of f16 become arithmetic in f32; those of f32 in f64, if parts_f32: for CPUs
 * without instructions for them. has_roundings: the CPU has AVX-512 (multiply_adds.c). */
void tr_part_multiply_adds(LLVMModuleRef module, bool parts_f32, bool has_roundings);

/* Rewrites saturating conversions of vectors, which LLVM would do lane by lane (saturate.c). */
void tr_saturate_vectors(LLVMModuleRef module);

/* Vectors that are shuffled as halves of 64 bits are shuffled whole (wide_shuffles.c). */
void tr_widen_shuffles(LLVMModuleRef module);

/* The scope of sums of f32 that flush subnormals (flushing_sums.c). */
unsigned tr_flush_scope(LLVMContextRef llvm);
bool tr_has_flushing_sums(LLVMModuleRef module);
/* They become calls of their helper, which is linked in. */
enum pxr_status tr_call_flushing_sums(LLVMModuleRef module, struct pxr_error *err);

/* Before good code generation, which takes time in proportion to the cube of the stores in a row,
 * and to the square of the loads: puts fences of the compiler between many of them
 * (part_accesses.c). */
void tr_part_accesses(LLVMModuleRef module);

/* Makes divisions by constants of products with their inverse, and of shifts if has_powers
 * (constant_quotients.c). */
void tr_take_quotients_back(LLVMModuleRef module, bool has_powers);

/* Behind all passes, before code generation: rewrites stores that LLVM would make wrong code of
 * (one_lane.c). */
void tr_mend_one_lane_stores(LLVMModuleRef module);

/* Likewise: rewrites choices of bits, of which selections keep one side (bit_choices.c). */
void tr_mend_bit_choices(LLVMModuleRef module);

/* Likewise: shifts masks of few lanes, and cuts off the last lanes of masks, as integers
 * (shifted_masks.c). */
void tr_mend_shifted_masks(LLVMModuleRef module);

/* Likewise: freezes numbers of elements (element_numbers.c). */
void tr_mend_element_numbers(LLVMModuleRef module);

/* Likewise, where LLVM would do otherwise: selections from what was compared stay selections
 * (selects.c). */
void tr_keep_selects(LLVMModuleRef module);
bool tr_loses_selects(LLVMModuleRef module);

/* Likewise: rewrites atomic accesses of 16 bytes, among them vectors, into forms that LLVM accepts
 * (whole_accesses.c). has_whole_loads: it handles an atomic load of 16 bytes. */
void tr_lower_whole_accesses(LLVMModuleRef module, bool has_whole_loads);

#endif
