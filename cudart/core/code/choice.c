/* SPDX-License-Identifier: Apache-2.0
 *
 * See choice.h. A record is three numbers, and six for each form; of 32 bits each, with the lowest
 * byte first.
 */
#include "cudart/core/code/choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/code/code_cache.h"

/* Of the record. */
#define FORMAT       2u

#define HEAD_NUMBERS 3
#define FORM_NUMBERS 6
#define RECORD_BYTES ((HEAD_NUMBERS + FORM_NUMBERS * CRT_FORMS_MAX) * sizeof(uint32_t))

/* ---- forms ---- */

/* Steps that gain on some kernels and lose on others (docs/tuning.md), as --skip names them. 0:
 * none is left out. */
static const char *const steps[] = {NULL, "nontemporal", "prefetch", "common-places", "split-rows"};

#define STEPS     (sizeof steps / sizeof steps[0])
#define WIDTH_MIN 4
#define JAM_MAX   16

/* What is likely to make a difference first: a form is paid for by a share of the time that the
 * ones before have left. */
enum change {
    WHOLE_BLOCKS,
    LOOPS,
    VECTORS,
    HALF_WIDTH,
    TWICE_JAM,
    HALF_JAM,
    WITHOUT,
    CHANGES = WITHOUT + STEPS
};

/* False: the change makes no sense. */
static bool change_form(const struct crt_form *from, unsigned change, struct crt_form *to)
{
    bool is_vector = from->collapse == PXR_COLLAPSE_VECTOR;
    *to = *from;
    switch (change) {
    case WHOLE_BLOCKS:
        to->begins_inside = false;
        return from->begins_inside;
    case LOOPS:
        *to =
            (struct crt_form){.collapse = PXR_COLLAPSE_FLAT, .begins_inside = from->begins_inside};
        return is_vector;
    case VECTORS:
        *to = (struct crt_form){.collapse = PXR_COLLAPSE_VECTOR,
                                .begins_inside = from->begins_inside};
        return !is_vector && from->collapse != PXR_COLLAPSE_PRECISE;
    case HALF_WIDTH:
        to->width /= 2;
        return is_vector && to->width >= WIDTH_MIN;
    case TWICE_JAM:
        to->jam *= 2;
        return is_vector && to->jam <= JAM_MAX;
    case HALF_JAM:
        to->jam /= 2;
        return is_vector && to->jam > 0;
    default:
        to->without = change - WITHOUT;
        return is_vector && to->without > 0 && from->without == 0;
    }
}

static bool is_same_form(const struct crt_form *a, const struct crt_form *b)
{
    return a->collapse == b->collapse && a->width == b->width && a->jam == b->jam &&
           a->without == b->without && a->begins_inside == b->begins_inside;
}

/* Loops that warp operations are in are loops as well, and vectors of which nothing is asked are
 * what the compiler chooses. */
static bool is_known(const struct crt_choice *choice, const struct crt_form *form)
{
    for (uint32_t i = 0; i < choice->count; i++) {
        const struct crt_form *known = &choice->tried[i].form;
        bool is_like = form->collapse == PXR_COLLAPSE_FLAT
                           ? known->collapse != PXR_COLLAPSE_VECTOR
                           : form->width == 0 && known->collapse == PXR_COLLAPSE_VECTOR;
        is_like = is_like && form->begins_inside == known->begins_inside;
        if (is_like || is_same_form(known, form))
            return true;
    }
    return false;
}

void crt_choice_begin(const struct crt_form *first, struct crt_choice *choice)
{
    *choice = (struct crt_choice){.count = 1, .tried = {{.form = *first, .permille = 1000}}};
}

bool crt_choice_next(const struct crt_choice *choice, struct crt_form *form)
{
    const struct crt_form *taken = &choice->tried[choice->taken].form;
    for (unsigned change = 0; change < CHANGES && choice->count < CRT_FORMS_MAX; change++)
        if (change_form(taken, change, form) && !is_known(choice, form))
            return true;
    return false;
}

void crt_choice_add(struct crt_choice *choice, const struct crt_form *form, double ratio,
                    bool is_taken)
{
    double permille = ratio * choice->tried[choice->taken].permille;
    uint32_t rounded = permille < 1 ? 1 : permille < UINT32_MAX ? (uint32_t)permille : UINT32_MAX;
    choice->tried[choice->count] = (struct crt_tried){.form = *form, .permille = rounded};
    if (is_taken)
        choice->taken = choice->count;
    choice->count++;
}

struct jit_variant crt_form_key(const struct crt_form *form, const struct tr_facts *facts)
{
    struct jit_variant key = {.collapse = form->collapse,
                              .width = form->width,
                              .jam = form->jam,
                              .without = steps[form->without],
                              .facts = *facts};
    key.facts.begins_inside = form->begins_inside;
    return key;
}

void crt_form_text(const struct crt_form *form, char text[CRT_FORM_TEXT_BYTES])
{
    char collapse[PXR_COLLAPSE_TEXT_BYTES];
    pxr_collapse_text(form->collapse, form->width, form->jam, collapse);
    snprintf(text, CRT_FORM_TEXT_BYTES, "%s%s%s%s", collapse, form->without ? " without " : "",
             form->without ? steps[form->without] : "",
             form->begins_inside ? " for blocks that have begun" : "");
}

void crt_choice_text(const struct crt_choice *choice, char *text, size_t size_bytes)
{
    size_t len = 0;
    text[0] = '\0';
    for (uint32_t i = 1; i < choice->count && len < size_bytes; i++) {
        char form[CRT_FORM_TEXT_BYTES];
        crt_form_text(&choice->tried[i].form, form);
        len += (size_t)snprintf(text + len, size_bytes - len, "%s%s %.2f%s", len ? ", " : "", form,
                                choice->tried[i].permille / 1000.0,
                                i == choice->taken ? " (taken)" : "");
    }
}

/* ---- in the cache ---- */

static uint8_t *put_number(uint8_t *at, uint32_t number)
{
    for (size_t i = 0; i < sizeof number; i++)
        at[i] = (uint8_t)(number >> 8 * i);
    return at + sizeof number;
}

static uint32_t get_number(const uint8_t **at)
{
    uint32_t number = 0;
    for (size_t i = 0; i < sizeof number; i++)
        number |= (uint32_t)(*at)[i] << 8 * i;
    *at += sizeof number;
    return number;
}

static size_t to_bytes(const struct crt_choice *choice, uint8_t bytes[RECORD_BYTES])
{
    uint8_t *at = put_number(bytes, FORMAT);
    at = put_number(at, choice->count);
    at = put_number(at, choice->taken);
    for (uint32_t i = 0; i < choice->count; i++) {
        const struct crt_tried *tried = &choice->tried[i];
        at = put_number(at, (uint32_t)tried->form.collapse);
        at = put_number(at, tried->form.width);
        at = put_number(at, tried->form.jam);
        at = put_number(at, tried->form.without);
        at = put_number(at, tried->form.begins_inside);
        at = put_number(at, tried->permille);
    }
    return (size_t)(at - bytes);
}

static bool get_tried(const uint8_t **at, struct crt_tried *tried)
{
    uint32_t collapse = get_number(at);
    tried->form = (struct crt_form){.collapse = (enum pxr_collapse)collapse};
    tried->form.width = get_number(at);
    tried->form.jam = get_number(at);
    tried->form.without = get_number(at);
    uint32_t begins_inside = get_number(at);
    tried->form.begins_inside = begins_inside != 0;
    tried->permille = get_number(at);
    return collapse != PXR_COLLAPSE_AUTO && collapse < PXR_COLLAPSE_COUNT &&
           tried->form.width <= 64 && tried->form.jam <= 64 && tried->form.without < STEPS &&
           begins_inside <= 1 && tried->permille > 0;
}

static bool from_bytes(const uint8_t *bytes, size_t size_bytes, struct crt_choice *choice)
{
    const uint8_t *at = bytes;
    if (size_bytes < HEAD_NUMBERS * sizeof(uint32_t) || get_number(&at) != FORMAT)
        return false;
    choice->count = get_number(&at);
    choice->taken = get_number(&at);
    if (choice->count > CRT_FORMS_MAX || choice->taken >= choice->count ||
        size_bytes != (HEAD_NUMBERS + (size_t)FORM_NUMBERS * choice->count) * sizeof(uint32_t))
        return false;
    bool are_possible = true;
    for (uint32_t i = 0; i < choice->count; i++)
        are_possible = get_tried(&at, &choice->tried[i]) && are_possible;
    return are_possible;
}

/* The request of code of which nothing is asked. */
static struct jit_request request_of(const struct crt_kernel *kernel, const struct tr_facts *facts)
{
    return crt_kernel_request(kernel, &(struct jit_variant){.facts = *facts});
}

bool crt_choice_get(const struct crt_kernel *kernel, const struct tr_facts *facts,
                    struct crt_choice *choice)
{
    struct jit_request request = request_of(kernel, facts);
    uint8_t *bytes;
    size_t count;
    if (!crt_code_cache_find_choice(&request, kernel->outline->digest, &bytes, &count))
        return false;
    bool is_known = from_bytes(bytes, count, choice);
    free(bytes);
    return is_known;
}

void crt_choice_keep(const struct crt_kernel *kernel, const struct tr_facts *facts,
                     const struct crt_choice *choice)
{
    struct jit_request request = request_of(kernel, facts);
    uint8_t bytes[RECORD_BYTES];
    crt_code_cache_keep_choice(&request, kernel->outline->digest, bytes, to_bytes(choice, bytes));
}
