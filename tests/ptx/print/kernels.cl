// SPDX-License-Identifier: Apache-2.0
// OpenCL C as clang turns it into PTX for the OpenCL driver interface.
__constant float coefficients[4] = {1.0f, 2.0f, 3.0f, 4.0f};

float helper(float a, __global const float *p)
{
    return a * p[0] + coefficients[(int)a & 3];
}

__kernel void mix(__global float *a, __local float *l, __constant int *c, float s, int n)
{
    __local float tile[16];

    tile[n & 15] = a[n];
    l[n] = s;
    a[n] = tile[c[n] & 15] + helper(s, a);
}

__kernel __attribute__((reqd_work_group_size(64, 2, 1))) void sized(__global double *d)
{
    d[0] = d[1] * 2.0 + d[2];
}
