/* SPDX-License-Identifier: Apache-2.0
 *
 * What has been measured of a kernel's best code: how long each of its forms takes, and which is
 * taken. Kept in the cache beside the code, for the kernel, the facts of launches and
 * the CPU. Internal to cudart/core/code. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_CHOICE_H
#define PTXRUN_CUDART_CORE_CODE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/code/module.h"

#define CRT_FORMS_MAX       8
#define CRT_FORM_TEXT_BYTES 96

/* A form, and what measuring it has shown. */
struct crt_tried {
    struct crt_form form;
    uint32_t permille; /* its time by that of the first form, 1000: the same */
};

/* The first form is what the compiler makes when nothing is asked for. */
struct crt_choice {
    uint32_t count;
    uint32_t taken; /* index */
    struct crt_tried tried[CRT_FORMS_MAX];
};

/* Nothing has been tried but what the compiler has chosen. */
void crt_choice_begin(const struct crt_form *first, struct crt_choice *choice);

/* The next form to try: one that differs little from what is taken, and that has not been tried.
 * False: there is none. */
bool crt_choice_next(const struct crt_choice *choice, struct crt_form *form);

/* The form has been tried: `ratio` is its time by that of what is taken. There has been a next one.
 */
void crt_choice_add(struct crt_choice *choice, const struct crt_form *form, double ratio,
                    bool is_taken);

/* Code of a form, as it is asked for. */
struct jit_variant crt_form_key(const struct crt_form *form, const struct tr_facts *facts);

/* "vector 16x4", "vector 16x4 without prefetch". */
void crt_form_text(const struct crt_form *form, char text[CRT_FORM_TEXT_BYTES]);

/* "flat 1.32, vector 8x4 0.95 (taken)": what was tried. Cut off if the buffer is too small. */
void crt_choice_text(const struct crt_choice *choice, char *text, size_t size_bytes);

/* What earlier processes have found out about code for these facts; false: nothing. */
bool crt_choice_get(const struct crt_kernel *kernel, const struct tr_facts *facts,
                    struct crt_choice *choice);

/* For later processes; best effort. */
void crt_choice_keep(const struct crt_kernel *kernel, const struct tr_facts *facts,
                     const struct crt_choice *choice);

#endif
