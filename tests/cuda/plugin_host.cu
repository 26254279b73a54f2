// SPDX-License-Identifier: Apache-2.0
// Opens a shared object that has kernels, runs them, closes it, and does it all again; kernels of
// the program itself run in between. Usage: plugin_host [PLUGIN], default plugin.so beside the
// program.
#include "expect.h"

#include <dlfcn.h>
#include <string>
#include <unistd.h>

__global__ void increment(int *values)
{
    values[threadIdx.x]++;
}

static std::string default_path()
{
    char buffer[4096];
    ssize_t length = readlink("/proc/self/exe", buffer, sizeof buffer);
    std::string path(buffer, length > 0 ? (size_t)length : 0);
    return path.substr(0, path.rfind('/') + 1) + "plugin.so";
}

static void use_plugin(const char *path, int round)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) {
        std::printf("cannot open the plugin: %s\n", dlerror());
        broken_expectations++;
        return;
    }
    auto triple = (int (*)(int *, int))dlsym(plugin, "plugin_triple");
    EXPECT(triple != nullptr);
    int values[100];
    for (int use = 1; triple != nullptr && use <= 2; use++) {
        for (int i = 0; i < 100; i++) {
            values[i] = i + round;
        }
        int calls = triple(values, 100);
        std::printf("round %d: the plugin was called %d times, last value %d\n", round, calls,
                    values[99]);
        EXPECT(calls == use); // a fresh copy starts from zero
        for (int i = 0; i < 100; i++) {
            EXPECT(values[i] == 3 * (i + round));
        }
    }
    EXPECT(dlclose(plugin) == 0);
}

int main(int argc, char **argv)
{
    std::string path = argc > 1 ? argv[1] : default_path();
    int *values = nullptr;
    EXPECT_OK(cudaMalloc(&values, 32 * sizeof(int)));
    EXPECT_OK(cudaMemset(values, 0, 32 * sizeof(int)));
    for (int round = 1; round <= 3; round++) {
        use_plugin(path.c_str(), round);
        increment<<<1, 32>>>(values);
        EXPECT_OK(cudaDeviceSynchronize());
    }
    int value = 0;
    EXPECT_OK(cudaMemcpy(&value, values + 31, sizeof value, cudaMemcpyDeviceToHost));
    EXPECT(value == 3);
    EXPECT_OK(cudaFree(values));
    return verdict("plugin_host");
}
