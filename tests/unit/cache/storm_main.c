/* SPDX-License-Identifier: Apache-2.0
 *
 * cache_storm DIR PROCESSES STARTS [LIMIT_BYTES [SEED]]: the test of processes that are killed, as
 * long as one likes. DIR is made.
 */
#include <stdio.h>
#include <stdlib.h>

#include "storm.h"

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: cache_storm DIR PROCESSES STARTS [LIMIT_BYTES [SEED]]\n");
        return 2;
    }
    const struct storm storm = {.path = argv[1],
                                .processes = (unsigned)atoi(argv[2]),
                                .starts = (unsigned)atoi(argv[3]),
                                .entries = 500,
                                .limit_bytes = argc > 4 ? strtoull(argv[4], NULL, 0) : 2000000,
                                .seed = argc > 5 ? strtoull(argv[5], NULL, 0) : 1};
    unsigned wrong = storm_run(&storm);
    printf("%u starts of processes, %u at once: %u things wrong\n", storm.starts, storm.processes,
           wrong);
    return wrong != 0;
}
