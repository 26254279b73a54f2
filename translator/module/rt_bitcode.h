/* SPDX-License-Identifier: Apache-2.0
 *
 * The bitcode of translator/rt, one entry per source file, embedded when the project is built.
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_RT_BITCODE_H
#define PTXRUN_TRANSLATOR_MODULE_RT_BITCODE_H

#include <stddef.h>
#include <stdint.h>

struct tr_rt_bitcode {
    const char *name;
    const uint8_t *begin;
    const uint8_t *end;
    const char *names; /* of the functions it defines, each followed by a newline */
};

extern const struct tr_rt_bitcode tr_rt_families[];
extern const size_t tr_rt_family_count;

#endif
