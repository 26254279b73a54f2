/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of another library, with arguments in every place where arguments can be.
 */
#ifndef PTXRUN_TESTS_BRIDGE_FUNCTIONS_H
#define PTXRUN_TESTS_BRIDGE_FUNCTIONS_H

struct bridged_large {
    long numbers[8];
};

/* All arguments, as digits of a number. */
double bridged_many(int a, int b, int c, int d, int e, int f, int g, int h, int i, double j,
                    double k, double l, double m, double n, double o, double p, double q, double r);

/* Of count numbers, doubles. */
double bridged_sum(int count, ...);

/* Returned through memory. */
struct bridged_large bridged_large(long first);

#endif
