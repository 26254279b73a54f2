// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void heat(const float *before, float *after, int width, int height, float rate)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int i = y * width + x;
    float here = before[i];
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1)
        here += rate * (before[i - 1] + before[i + 1] + before[i - width] + before[i + width] - 4.0f * here);
    after[i] = here;
}
