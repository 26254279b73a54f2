// SPDX-License-Identifier: Apache-2.0
// Draws the Mandelbrot set into a grey picture (PGM): neighbouring threads run loops of different
// length. Usage: mandelbrot [FILE], default mandelbrot.pgm. Host and device use the same fused
// operations, so the pictures must be equal.
#include "check.h"

#include <cmath>
#include <cstdint>
#include <vector>

const int WIDTH = 320;
const int HEIGHT = 240;
const int LIMIT = 255;

__host__ __device__ uint8_t shade_of(int x, int y)
{
    float real = fmaf((float)x, 3.0f / WIDTH, -2.2f);
    float imag = fmaf((float)y, 2.25f / HEIGHT, -1.125f);
    float a = 0.0f;
    float b = 0.0f;
    int count = 0;
    while (count < LIMIT && fmaf(a, a, b * b) <= 4.0f) {
        float next = fmaf(a, a, fmaf(-b, b, real));
        b = fmaf(2.0f * a, b, imag);
        a = next;
        count++;
    }
    return (uint8_t)(count == LIMIT ? 0 : 255 - count * 5 % 256);
}

__global__ void draw(uint8_t *picture)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < WIDTH && y < HEIGHT) {
        picture[y * WIDTH + x] = shade_of(x, y);
    }
}

static bool write_picture(const char *path, const std::vector<uint8_t> &picture)
{
    FILE *file = std::fopen(path, "wb");
    if (file == nullptr) {
        std::perror(path);
        return false;
    }
    std::fprintf(file, "P5\n%d %d\n255\n", WIDTH, HEIGHT);
    size_t written = std::fwrite(picture.data(), 1, picture.size(), file);
    return std::fclose(file) == 0 && written == picture.size();
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "mandelbrot.pgm";
    std::vector<uint8_t> picture(WIDTH * HEIGHT);
    uint8_t *device_picture = nullptr;
    CHECK(cudaMalloc(&device_picture, picture.size()));
    dim3 threads(32, 4);
    dim3 blocks((WIDTH + threads.x - 1) / threads.x, (HEIGHT + threads.y - 1) / threads.y);
    draw<<<blocks, threads>>>(device_picture);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(picture.data(), device_picture, picture.size(), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device_picture));

    uint32_t checksum = 2166136261u;
    int wrong = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        checksum = (checksum ^ picture[i]) * 16777619u;
        wrong += picture[i] != shade_of(i % WIDTH, i / WIDTH);
    }
    for (int y = 0; y < HEIGHT; y += 20) {
        for (int x = 0; x < WIDTH; x += 8) {
            std::putchar(picture[y * WIDTH + x] == 0    ? '#'
                         : picture[y * WIDTH + x] < 215 ? '+'
                                                        : '.');
        }
        std::putchar('\n');
    }
    std::printf("%dx%d pixels, checksum %08x, wrong pixels: %d\n", WIDTH, HEIGHT, checksum, wrong);
    bool is_written = write_picture(path, picture);
    return finish("mandelbrot", wrong == 0 && is_written);
}
