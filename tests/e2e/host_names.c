/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that has functions of its own under the names that our libraries use (host_names.sh
 * makes them): each ends the program and says which it was. All APIs still do what they should.
 * Whatever this program calls it has asked the library itself for.
 * Usage: host_names LIBCUDART PTX-FILE...
 */
#include <dlfcn.h>
#include <ptxrun/ptxrun.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void host_function_called(const char *name);

void host_function_called(const char *name)
{
    fprintf(stderr, "the program's own %s was called\n", name);
    _Exit(3);
}

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry twice(.param .u64 data)\n"
                          "{\n"
                          "    .reg .b32 %r<3>;\n"
                          "    .reg .b64 %rd<3>;\n"
                          "    mov.u32 %r1, %tid.x;\n"
                          "    ld.param.u64 %rd1, [data];\n"
                          "    mul.wide.u32 %rd2, %r1, 4;\n"
                          "    add.s64 %rd1, %rd1, %rd2;\n"
                          "    ld.global.u32 %r2, [%rd1];\n"
                          "    shl.b32 %r2, %r2, 1;\n"
                          "    st.global.u32 [%rd1], %r2;\n"
                          "    ret;\n"
                          "}\n";

enum { COUNT = 64, TO_DEVICE = 1, TO_HOST = 2 };

static void *open_library(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return library;
}

static void *find(void *library, const char *name)
{
    void *function = dlsym(library, name);
    if (!function) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return function;
}

static void expect(int is_right, const char *what)
{
    if (is_right)
        return;
    fprintf(stderr, "FAILED: %s\n", what);
    exit(1);
}

/* A function of the library, called with arguments that are integers, pointers or NULL. */
#define CALL(library, name, types, ...)                                                            \
    expect(((int(*) types)(uintptr_t)find(library, #name))(__VA_ARGS__) == 0, #name)

static void fill(int values[COUNT])
{
    for (int i = 0; i < COUNT; i++)
        values[i] = i;
}

static void expect_twice(const int values[COUNT], const char *what)
{
    for (int i = 0; i < COUNT; i++)
        expect(values[i] == 2 * i, what);
}

static void use_driver(void)
{
    void *cuda = open_library("libcuda.so.1");
    void *context, *module, *function;
    uint64_t data;
    int values[COUNT];
    fill(values);
    CALL(cuda, cuInit, (unsigned), 0);
    CALL(cuda, cuDevicePrimaryCtxRetain, (void **, int), &context, 0);
    CALL(cuda, cuCtxSetCurrent, (void *), context);
    CALL(cuda, cuModuleLoadData, (void **, const void *), &module, ptx);
    CALL(cuda, cuModuleGetFunction, (void **, void *, const char *), &function, module, "twice");
    CALL(cuda, cuMemAlloc_v2, (uint64_t *, size_t), &data, sizeof values);
    CALL(cuda, cuMemcpyHtoD_v2, (uint64_t, const void *, size_t), data, values, sizeof values);
    CALL(cuda, cuLaunchKernel,
         (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
          void **, void **),
         function, 1, 1, 1, COUNT, 1, 1, 0, NULL, (void *[]){&data}, NULL);
    CALL(cuda, cuMemcpyDtoH_v2, (void *, uint64_t, size_t), values, data, sizeof values);
    expect_twice(values, "the driver's kernel");
    CALL(cuda, cuMemFree_v2, (uint64_t), data);
    CALL(cuda, cuModuleUnload, (void *), module);
}

static void use_runtime(const char *path)
{
    void *cudart = open_library(path);
    int in[COUNT], out[COUNT];
    void *data, *stream;
    fill(in);
    CALL(cudart, cudaMalloc, (void **, size_t), &data, sizeof in);
    CALL(cudart, cudaStreamCreate, (void **), &stream);
    CALL(cudart, cudaMemcpyAsync, (void *, const void *, size_t, int, void *), data, in, sizeof in,
         TO_DEVICE, stream);
    CALL(cudart, cudaStreamSynchronize, (void *), stream);
    CALL(cudart, cudaMemcpy, (void *, const void *, size_t, int), out, data, sizeof out, TO_HOST);
    expect(memcmp(in, out, sizeof in) == 0, "the runtime's copies");
    CALL(cudart, cudaStreamDestroy, (void *), stream);
    CALL(cudart, cudaFree, (void *), data);
    CALL(cudart, cudaDeviceSynchronize, (void), );
}

static void use_management(void)
{
    void *nvml = open_library("libnvidia-ml.so.1");
    unsigned count = 0;
    CALL(nvml, nvmlInit_v2, (void), );
    CALL(nvml, nvmlDeviceGetCount_v2, (unsigned *), &count);
    expect(count > 0, "the management library's devices");
    CALL(nvml, nvmlShutdown, (void), );
}

static void use_nvtx(void)
{
    void *nvtx = open_library("libnvToolsExt.so.1");
    ((void (*)(const char *))(uintptr_t)find(nvtx, "nvtxMarkA"))("mark");
}

/* The C API, as far as it is declared the same as the library's own functions. */
struct api {
    __typeof__(ptxrun_load_text) *load_text;
    __typeof__(ptxrun_load_file) *load_file;
    __typeof__(ptxrun_find_kernel) *find_kernel;
    __typeof__(ptxrun_launch) *launch;
    __typeof__(ptxrun_unload) *unload;
    __typeof__(ptx_run) *run;
};

static struct api find_api(void)
{
    void *library = open_library("libptxrun.so");
    return (struct api){
        .load_text = find(library, "ptxrun_load_text"),
        .load_file = find(library, "ptxrun_load_file"),
        .find_kernel = find(library, "ptxrun_find_kernel"),
        .launch = find(library, "ptxrun_launch"),
        .unload = find(library, "ptxrun_unload"),
        .run = find(library, "ptx_run"),
    };
}

static void use_c_api(const struct api *api)
{
    struct ptxrun_module *module;
    struct ptxrun_kernel *kernel;
    struct ptxrun_launch launch = {.grid = {1, 1, 1}, .block = {COUNT, 1, 1}};
    int values[COUNT], *data = values;
    fill(values);
    expect(api->load_text(ptx, strlen(ptx), &module, NULL) == 0, "ptxrun_load_text");
    expect(api->find_kernel(module, "twice", &kernel, NULL) == 0, "ptxrun_find_kernel");
    expect(api->launch(kernel, &launch, (void *[]){&data}, 1, NULL) == 0, "ptxrun_launch");
    expect_twice(values, "the kernel of the C API");
    api->unload(module);
    fill(values);
    expect(api->run(ptx, 1, (void *[]){data}, COUNT, 1, 1, 1, 1, 1) == 0, "ptx_run");
    expect_twice(values, "the kernel of ptx_run");
}

/* Executables and archives, with compressed PTX. */
static void load_file(const struct api *api, const char *path)
{
    struct ptxrun_module *module;
    struct ptxrun_error err;
    if (api->load_file(path, &module, &err)) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    api->unload(module);
}

#ifdef CALLS_EARLY
int cuInit(unsigned flags);
int cuDeviceGetName(char *name, int len, int device);
int cudaGetDeviceCount(int *count);
int nvmlInit_v2(void);

static char early_name[64];
static int early_count;

/* Runs before the constructors of all libraries. */
static void call_early(void)
{
    if (cuInit(0) != 0 || cuDeviceGetName(early_name, sizeof early_name, 0) != 0 ||
        cudaGetDeviceCount(&early_count) != 0 || nvmlInit_v2() != 0)
        _Exit(4);
}

__attribute__((section(".preinit_array"), used)) static void (*const early)(void) = call_early;
#endif

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
#ifdef CALLS_EARLY
    expect(early_name[0] != '\0' && early_count > 0, "calls before all constructors");
#endif
    use_driver();
    use_runtime(argv[1]);
    use_management();
    use_nvtx();
    struct api api = find_api();
    use_c_api(&api);
    for (int i = 2; i < argc; i++)
        load_file(&api, argv[i]);
    return 0;
}
