// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void mandelbrot(unsigned char *picture, int width, int height, float left, float top, float step, int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float real = fmaf((float)x, step, left), imag = fmaf((float)y, step, top);
    float a = 0.0f, b = 0.0f;
    int count = 0;
    while (count < limit && fmaf(a, a, b * b) <= 4.0f) {
        float next = fmaf(a, a, fmaf(-b, b, real));
        b = fmaf(2.0f * a, b, imag); a = next;
        count++;
    }
    picture[y * width + x] = (unsigned char)(count == limit ? 0 : 255 - count * 5 % 256);
}
