/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of examples/vector_add.cu in C: for bench_start.
 */
#include <stdio.h>
#include <stdlib.h>

#define COUNT 100003

static void add(const float *a, const float *b, float *c, int n)
{
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

int main(void)
{
    float *a = calloc(COUNT, sizeof *a);
    float *b = calloc(COUNT, sizeof *b);
    float *c = calloc(COUNT, sizeof *c);
    int wrong = 0;
    if (!a || !b || !c)
        return 1;
    for (int i = 0; i < COUNT; i++) {
        a[i] = (float)i * 0.5f;
        b[i] = 1.0f / (float)(i + 1);
    }
    printf("adding %d elements\n", COUNT);
    add(a, b, c, COUNT);
    for (int i = 0; i < COUNT; i++)
        wrong += c[i] != a[i] + b[i];
    printf("c[0] = %g, c[%d] = %g, wrong elements: %d\n", (double)c[0], COUNT - 1,
           (double)c[COUNT - 1], wrong);
    free(a);
    free(b);
    free(c);
    return wrong != 0;
}
