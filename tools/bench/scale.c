/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a picture has a number.
 */
#include "tools/bench/scale.h"

#include <math.h>

#define WANTED_TICKS 5
#define LOG_STEPS    6 /* of which the numbers, as 0.0001, fit beside each other */

/* 1, 2 or 5 times a power of ten, not below the number. */
static double round_up(double number)
{
    double power = pow(10, floor(log10(number)));
    double digit = number / power;
    double slack = 1 + 1e-9;
    return power * (digit <= 1 * slack ? 1 : digit <= 2 * slack ? 2 : digit <= 5 * slack ? 5 : 10);
}

static void add_tick(struct scale *scale, double number)
{
    if (scale->tick_count < SCALE_MAX_TICKS)
        scale->ticks[scale->tick_count++] = number;
}

struct scale scale_linear(double most, double begin, double end)
{
    struct scale scale = {.begin = begin, .end = end};
    double step = round_up(most / WANTED_TICKS);
    double steps = ceil(most / step - 1e-9);
    scale.to = steps * step;
    for (double i = 0; i <= steps; i++)
        add_tick(&scale, i * step);
    return scale;
}

struct scale scale_log(double least, double most, double begin, double end)
{
    struct scale scale = {.begin = begin, .end = end, .is_log = true};
    double first = floor(log10(least) + 1e-9), last = ceil(log10(most) - 1e-9);
    if (last == first)
        last++;
    scale.from = pow(10, first);
    scale.to = pow(10, last);
    double step = ceil((last - first) / LOG_STEPS); // of powers
    for (double power = first; power <= last; power += step)
        add_tick(&scale, pow(10, power));
    return scale;
}

double scale_at(const struct scale *scale, double number)
{
    double share = scale->is_log
                       ? log(fmax(number, scale->from) / scale->from) / log(scale->to / scale->from)
                       : (number - scale->from) / (scale->to - scale->from);
    return scale->begin + fmin(fmax(share, 0), 1) * (scale->end - scale->begin);
}
