/* SPDX-License-Identifier: Apache-2.0
 *
 * Instructions with operands, for ptx_forms. The registers and variables that they name are those
 * that put_module there declares.
 */
#ifndef PTXRUN_TESTS_FORMS_OPERANDS_H
#define PTXRUN_TESTS_FORMS_OPERANDS_H

#include "ptx/forms.h"

/* A matrix of wgmma has up to 128 registers in a lane. */
#define FORMS_LINE_BYTES    1024
#define FORMS_OPERAND_BYTES 800

/* 1, 2, 4 or 8. */
unsigned forms_vector_len(const struct ptx_form *form);

/* The spelling, and operands as the form's row wants them, without those that may be left out. */
void forms_put_instruction(char text[FORMS_LINE_BYTES], const struct ptx_form *form,
                           const char *spelling);

#endif
