/* SPDX-License-Identifier: Apache-2.0
 *
 * The oracle's bodies without a machine around them: registers in, registers out. Only for
 * instructions that touch nothing but registers and the carry flag.
 */
#ifndef PTXRUN_TESTS_CONFORMANCE_DIRECT_H
#define PTXRUN_TESTS_CONFORMANCE_DIRECT_H

#include "tests/conformance/case.h"
#include "tests/oracle/thread.h"
#include "util/error.h"

struct conf_direct;

/* Parses the cases in their bare form. On failure err says why. */
enum pxr_status conf_direct_open(const struct conf_case *cases, unsigned count,
                                 struct conf_direct **direct, struct pxr_error *err);
void conf_direct_close(struct conf_direct *direct);

/* Makes case `index` the one that conf_direct_eval runs; returns its tested instruction. */
const struct ptx_inst *conf_direct_select(struct conf_direct *direct, unsigned index);

/* in and out: values of the registers %i… and %o… */
enum pxr_status conf_direct_eval(struct conf_direct *direct, const union oracle_value *in,
                                 union oracle_value *out);
/* Source operands of the tested instruction in the last evaluation, constants included. */
const union oracle_value *conf_direct_sources(const struct conf_direct *direct, unsigned *count);
const char *conf_direct_message(const struct conf_direct *direct);

#endif
