/* SPDX-License-Identifier: Apache-2.0
 *
 * One case: an instruction of one form with concrete operands, as text that reads registers
 * %i0, %i1, … and writes %o0, %o1, …; and how cases are made from the op table.
 */
#ifndef PTXRUN_TESTS_CONFORMANCE_CASE_H
#define PTXRUN_TESTS_CONFORMANCE_CASE_H

#include <stdbool.h>
#include <stddef.h>

#include "ptx/forms.h"
#include "tests/conformance/inputs.h"

#define CONF_MAX_OUTPUTS 4
#define CONF_NAME_BYTES  192
#define CONF_BODY_BYTES  1024

struct conf_case {
    enum ptx_op op;
    char name[CONF_NAME_BYTES]; /* spelling and variant */
    char body[CONF_BODY_BYTES]; /* lines of PTX; may declare registers */
    unsigned ptx;               /* version and target that the form needs */
    unsigned sm;
    bool needs_arch; /* sm_100a rather than sm_100 */
    bool is_variant; /* not the plain form: fewer random inputs are enough */
    unsigned in_count;
    enum ptx_type in_types[CONF_MAX_INPUTS];
    unsigned in_bits[CONF_MAX_INPUTS]; /* of the register; 1: a predicate */
    unsigned out_count;
    enum ptx_type out_types[CONF_MAX_OUTPUTS]; /* the instruction's type, for messages */
    unsigned out_bits[CONF_MAX_OUTPUTS];       /* of the register stored; 1: a predicate */
};

/* Return false to stop. */
typedef bool (*conf_case_fn)(const struct conf_case *made, void *data);

/* Cases of a form of the scalar families: the plain one and, when with_variants, others that
 * differ in operands (constants, wider registers, shared registers, pairs, negated predicates).
 * False when there is no way to make any: the operands are of a kind that is not known here. */
bool conf_scalar_cases(const struct ptx_form *form, bool with_variants, conf_case_fn fn,
                       void *data);

/* Bits of the register that holds a value of the type. */
unsigned conf_register_bits(enum ptx_type type);

#endif
