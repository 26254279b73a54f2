// SPDX-License-Identifier: Apache-2.0
// A million equal numbers: their text is ten thousand times as long as what the compiler packs it into.
#define FIVE(...) __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__
#define TEN    FIVE(7), FIVE(7)
#define HUNDRED FIVE(TEN), FIVE(TEN)
#define THOUSAND FIVE(HUNDRED), FIVE(HUNDRED)
#define TEN_THOUSAND FIVE(THOUSAND), FIVE(THOUSAND)
#define HUNDRED_THOUSAND FIVE(TEN_THOUSAND), FIVE(TEN_THOUSAND)

__device__ unsigned char table[1000000] = {FIVE(HUNDRED_THOUSAND), FIVE(HUNDRED_THOUSAND)};

__global__ void read(unsigned *out, int i)
{
    *out = table[i];
}
