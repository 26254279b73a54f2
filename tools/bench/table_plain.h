/* SPDX-License-Identifier: Apache-2.0
 *
 * The C of the rows, made for a CPU: a library for each compiler (plain/build.sh).
 */
#ifndef PTXRUN_TOOLS_BENCH_TABLE_PLAIN_H
#define PTXRUN_TOOLS_BENCH_TABLE_PLAIN_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/bench/table_case.h"

/* Loads what was built for this machine, or builds the same for another CPU ("": this machine's).
 * A compiler that does not know the CPU is left out; false, after a message, if that is the
 * project's. Called once, before other functions. */
bool table_plain_open(const char *cpu);

/* NULL: the compiler is not there, or the name is NULL. An unknown name ends the program. */
table_plain_fn table_plain_find(const char *name, enum table_compiler compiler);

/* Of the vectors of tuned C. */
size_t table_plain_vector_bytes(void);

/* "clang 22.1.0"; NULL: it is not there. */
const char *table_plain_compiler(enum table_compiler compiler);

#endif
