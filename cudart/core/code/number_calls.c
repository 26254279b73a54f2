/* SPDX-License-Identifier: Apache-2.0
 *
 * What code with checks of numbers calls (kernel_abi/numbers.h) where a number that went wrong is
 * used: that, made a finding at the place where it went wrong.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cudart/core/code/finding_place.h"
#include "cudart/core/code/number_text.h"
#include "kernel_abi/numbers.h"

struct wrong {
    enum rt_number_kind kind;
    uint32_t line;
    enum rt_number_use use;
    uint32_t used_line;
};

static struct wrong decode(uint32_t origin, uint32_t use)
{
    return (struct wrong){.kind = origin >> RT_NUMBER_KIND_SHIFT,
                          .line = origin >> RT_NUMBER_LINE_SHIFT & (RT_NUMBER_LINES - 1),
                          .use = use >> RT_NUMBER_USE_SHIFT,
                          .used_line = use & (RT_NUMBER_LINES - 1)};
}

static enum crt_finding_kind finding_kind(const struct wrong *wrong)
{
    static const enum crt_finding_kind kinds[] = {
        [RT_NUMBER_NAN] = CRT_FINDING_NAN_MADE,
        [RT_NUMBER_INFINITY] = CRT_FINDING_INFINITY_MADE,
        [RT_NUMBER_ZERO_DIVISOR] = CRT_FINDING_DIVISION_BY_ZERO,
        [RT_NUMBER_CONVERSION] = CRT_FINDING_CONVERSION_RANGE,
        [RT_NUMBER_SIGNED_WRAP] = CRT_FINDING_INDEX_OVERFLOW,
        [RT_NUMBER_WRAP] = CRT_FINDING_INDEX_OVERFLOW,
    };
    bool is_integer_division = wrong->use == RT_NUMBER_MADE;
    return is_integer_division ? CRT_FINDING_INTEGER_DIVISION : kinds[wrong->kind];
}

static void describe_use(const struct wrong *wrong, const struct rt_thread *thread, char *text,
                         size_t cap)
{
    static const char *const uses[] = {[RT_NUMBER_STORED] = "stored at",
                                       [RT_NUMBER_DECIDES] = "decides where the thread goes at",
                                       [RT_NUMBER_ADDRESSES] = "addresses memory at"};
    char place[PTX_PLACE_TEXT_BYTES + 16];
    crt_place_text(thread, wrong->used_line, place, sizeof place);
    if (wrong->use == RT_NUMBER_MADE)
        snprintf(text, cap, "the result is undefined");
    else
        snprintf(text, cap, "%s %s", uses[wrong->use], place);
}

void rt_number_wrong(struct rt_thread *thread, uint32_t origin, uint64_t first_two, uint32_t third,
                     uint32_t use)
{
    struct wrong wrong = decode(origin, use);
    char what[CRT_NUMBER_TEXT_BYTES];
    char where[PTX_PLACE_TEXT_BYTES + 64];
    struct crt_placed_finding placed;
    crt_name_place(&placed, thread, wrong.line);
    placed.finding.kind = finding_kind(&wrong);
    if (crt_finding_again(&placed.finding))
        return;
    crt_number_text(origin, first_two, third, wrong.use == RT_NUMBER_MADE, what);
    describe_use(&wrong, thread, where, sizeof where);
    crt_find_place(&placed, thread);
    placed.finding.access = what;
    placed.finding.where = where;
    crt_finding_add(&placed.finding);
}
