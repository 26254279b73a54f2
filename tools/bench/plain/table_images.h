/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of table_images.c in C; see plain/table_images.c.
 */
#ifndef PTXRUN_TOOLS_BENCH_PLAIN_TABLE_IMAGES_H
#define PTXRUN_TOOLS_BENCH_PLAIN_TABLE_IMAGES_H

#include "tools/bench/plain/plain.h"

/* buffer[0]: the image; buffer[1]: out; n: width, height; scalar: cosine and sine. What lies
 * outside is what is nearest inside. */
table_plain plain_turn_nearest;
table_plain plain_turn_filtered;
table_plain plain_turn_colours;

#endif
