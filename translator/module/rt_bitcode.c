/* SPDX-License-Identifier: Apache-2.0
 *
 * Table of the embedded bitcode. The list of families is made by translator/CMakeLists.txt.
 */
#include "translator/module/rt_bitcode.h"

#define FAMILY(family)                                                                             \
    extern const uint8_t tr_rt_##family##_begin[], tr_rt_##family##_end[];                         \
    extern const char tr_rt_##family##_names[];
#include "translator/rt/rt_families.def"
#undef FAMILY

const struct tr_rt_bitcode tr_rt_families[] = {
#define FAMILY(family)                                                                             \
    {#family, tr_rt_##family##_begin, tr_rt_##family##_end, tr_rt_##family##_names},
#include "translator/rt/rt_families.def"
#undef FAMILY
};

const size_t tr_rt_family_count = sizeof tr_rt_families / sizeof tr_rt_families[0];
