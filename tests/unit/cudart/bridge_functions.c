/* SPDX-License-Identifier: Apache-2.0
 *
 * The other library of test_bridge.c.
 */
#include "bridge_functions.h"

#include <stdarg.h>
#include <stddef.h>

double bridged_many(int a, int b, int c, int d, int e, int f, int g, int h, int i, double j,
                    double k, double l, double m, double n, double o, double p, double q, double r)
{
    double digits[] = {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r};
    double number = 0;
    for (size_t at = 0; at < sizeof digits / sizeof *digits; at++)
        number = number * 2 + digits[at];
    return number;
}

double bridged_sum(int count, ...)
{
    va_list numbers;
    va_start(numbers, count);
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += va_arg(numbers, double);
    va_end(numbers);
    return sum;
}

struct bridged_large bridged_large(long first)
{
    struct bridged_large large;
    for (int i = 0; i < 8; i++)
        large.numbers[i] = first + i;
    return large;
}
