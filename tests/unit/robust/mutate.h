/* SPDX-License-Identifier: Apache-2.0
 *
 * Damages inputs in repeatable ways: bytes as a bad disk or a cut-off download would, PTX text as a
 * defective compiler would.
 */
#ifndef PTXRUN_TESTS_ROBUST_MUTATE_H
#define PTXRUN_TESTS_ROBUST_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* A growing copy of the input. */
struct mutant {
    uint8_t *bytes;
    size_t len;
    size_t cap;
    uint64_t random; /* state of the generator, never 0 */
};

void mutant_init(struct mutant *mutant, const void *bytes, size_t len, uint64_t seed);
void mutant_fini(struct mutant *mutant);

/* A number below n, which is not 0. */
uint64_t mutant_below(struct mutant *mutant, uint64_t n);

/* One to four of: cut off, flipped bits, a field set to an extreme value, a part moved. */
void mutant_damage_bytes(struct mutant *mutant);

/* One to three of: tokens left out, repeated, exchanged, replaced by another or by an extreme
 * number; lines left out or repeated; the text cut off. */
void mutant_damage_text(struct mutant *mutant);

#endif
