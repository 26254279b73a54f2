/* SPDX-License-Identifier: Apache-2.0
 *
 * Refusals: requests of the program that fail because the feature does not exist here. Each is
 * logged when it happens; programs that do not look at errors fail long after that, so the first is
 * repeated as the last line of a run that fails: one that ends with a status other than 0 or by a
 * signal. A program that does without gets no such line.
 */
#ifndef PTXRUN_UTIL_REFUSAL_H
#define PTXRUN_UTIL_REFUSAL_H

/* The first call counts. Thread-safe. */
void pxr_refusal_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The program ends by a signal. Writes the line, if there is one and it was not written yet. For
 * signal handlers, too. */
void pxr_refusal_tell(void);

#endif
