/* SPDX-License-Identifier: Apache-2.0
 *
 * A program as toolkits 12 and 11 (TOOLKIT) make them: it declares what it calls as those do, and
 * watches that nothing is written behind its structs.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "ptx/fatbin.h"

typedef void *handle;

int cudaRuntimeGetVersion(int *version);
int cudaGetDeviceProperties(void *properties, int device);
int cudaMalloc(void **result, size_t bytes);
int cudaFree(void *pointer);
int cudaMallocManaged(void **result, size_t bytes, unsigned flags);
int cudaMemAdvise(const void *pointer, size_t bytes, int advice, int device);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaPointerGetAttributes(void *attributes, const void *pointer);
int cudaThreadSynchronize(void);
int cudaGraphCreate(handle *graph, unsigned flags);
int cudaGraphAddEmptyNode(handle *node, handle graph, const handle *deps, size_t count);
int cudaGraphAddDependencies(handle graph, const handle *from, const handle *to, size_t count);
int cudaGraphGetEdges(handle graph, handle *from, handle *to, size_t *count);
int cudaStreamCreate(handle *stream);
int cudaStreamGetAttribute(handle stream, int id, void *value);
int cudaStreamGetCaptureInfo_v2(handle stream, int *status, unsigned long long *id, handle *graph,
                                const handle **nodes, size_t *count);
struct dim3 {
    unsigned x, y, z;
};
int cudaFuncGetAttributes(void *attributes, const void *stub);
int cudaLaunchKernel(const void *stub, struct dim3 grid, struct dim3 block, void **args,
                     size_t shared_bytes, handle stream);
handle *__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(handle *image);
void __cudaUnregisterFatBinary(handle *image);
void __cudaRegisterFunction(handle *image, const void *stub, char *function, const char *name,
                            int thread_limit, void *, void *, void *, void *, int *);
unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared_bytes,
                                     handle stream);
int __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared_bytes,
                               void *stream);
#if TOOLKIT == 12
int cudaGetDeviceProperties_v2(void *properties, int device);
int cudaGraphGetEdges_v2(handle graph, handle *from, handle *to, void *data, size_t *count);
int cudaGraphInstantiate(handle *exec, handle graph, unsigned long long flags);
int cudaGraphExecUpdate(handle exec, handle graph, void *info);
int cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                            int *status);
#else
int cudaGraphInstantiate(handle *exec, handle graph, handle *node, char *log, size_t log_bytes);
int cudaGraphExecUpdate(handle exec, handle graph, handle *node, int *result);
int cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags);
#endif

static int failures;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("FAILED: line %d: %s\n", __LINE__, #condition);                                 \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

enum { MARK = 0xa5 };

/* The last byte that was written, plus one. */
static size_t written(const unsigned char *buffer, size_t size)
{
    while (size > 0 && buffer[size - 1] == MARK)
        size--;
    return size;
}

static int int_at(const unsigned char *buffer, size_t offset)
{
    int value;
    memcpy(&value, buffer + offset, sizeof value);
    return value;
}

/* Offsets that the layouts of both toolkits have in common. */
static void check_properties(int (*get)(void *, int), size_t size)
{
    unsigned char buffer[2048];
    memset(buffer, MARK, sizeof buffer);
    EXPECT(get(buffer, 0) == 0);
    EXPECT(written(buffer, sizeof buffer) == size);
    size_t memory;
    memcpy(&memory, buffer + 288, sizeof memory);
    EXPECT(buffer[0] > ' ' && memchr(buffer, 0, 256) != NULL);
    EXPECT(memory > 1 << 20);
    EXPECT(int_at(buffer, 308) == 32);   /* warpSize */
    EXPECT(int_at(buffer, 320) == 1024); /* maxThreadsPerBlock */
    EXPECT(int_at(buffer, 348) > 0);     /* clockRate */
    EXPECT(int_at(buffer, 360) == 8 && int_at(buffer, 364) == 0);
    EXPECT(int_at(buffer, 388) > 0); /* multiProcessorCount */
    EXPECT(get(buffer, 99) == 101);
}

static void check_memory(void)
{
    void *pointer = NULL;
    char text[] = "round trip";
    char back[sizeof text] = "";
    unsigned char attributes[128];
    EXPECT(cudaMalloc(&pointer, sizeof text) == 0);
    EXPECT(cudaMemcpy(pointer, text, sizeof text, 1) == 0);
    EXPECT(cudaMemcpy(back, pointer, sizeof text, 2) == 0);
    EXPECT(strcmp(back, text) == 0);
    memset(attributes, MARK, sizeof attributes);
    EXPECT(cudaPointerGetAttributes(attributes, pointer) == 0);
    EXPECT(written(attributes, sizeof attributes) == 24);
    EXPECT(int_at(attributes, 0) == 2);
    EXPECT(cudaFree(pointer) == 0);
    EXPECT(cudaMallocManaged(&pointer, 4096, 1) == 0);
    EXPECT(cudaMemAdvise(pointer, 4096, 3, -1) == 0);
    EXPECT(cudaFree(pointer) == 0);
}

static void check_graphs(void)
{
    handle graph, nodes[2], from[4], to[4], exec;
    size_t count = 4;
    EXPECT(cudaGraphCreate(&graph, 0) == 0);
    EXPECT(cudaGraphAddEmptyNode(&nodes[0], graph, NULL, 0) == 0);
    EXPECT(cudaGraphAddEmptyNode(&nodes[1], graph, NULL, 0) == 0);
    EXPECT(cudaGraphAddDependencies(graph, &nodes[0], &nodes[1], 1) == 0);
    EXPECT(cudaGraphGetEdges(graph, from, to, &count) == 0);
    EXPECT(count == 1 && from[0] == nodes[0] && to[0] == nodes[1]);
#if TOOLKIT == 12
    unsigned char data[4][8];
    struct {
        int result;
        handle node, from;
    } info;
    memset(data, MARK, sizeof data);
    count = 4;
    EXPECT(cudaGraphGetEdges_v2(graph, from, to, data, &count) == 0);
    EXPECT(count == 1 && data[0][0] == 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0) == 0);
    EXPECT(cudaGraphExecUpdate(exec, graph, &info) == 0 && info.result == 0);
#else
    handle culprit = NULL;
    char log[16] = "old";
    int result = -1;
    EXPECT(cudaGraphInstantiate(&exec, graph, &culprit, log, sizeof log) == 0);
    EXPECT(cudaGraphExecUpdate(exec, graph, &culprit, &result) == 0 && result == 0);
#endif
}

static void check_streams(void)
{
    handle stream, graph = NULL;
    const handle *nodes;
    size_t count;
    unsigned char value[128];
    int status = -1;
    memset(value, MARK, sizeof value);
    EXPECT(cudaStreamCreate(&stream) == 0);
    EXPECT(cudaStreamGetAttribute(stream, 3, value) == 0);
    EXPECT(written(value, sizeof value) <= (TOOLKIT == 12 ? 64 : 32));
    EXPECT(cudaStreamGetCaptureInfo_v2(stream, &status, NULL, &graph, &nodes, &count) == 0);
    EXPECT(status == 0);
    EXPECT(cudaThreadSynchronize() == 0);
}

static void check_entry_point(void)
{
    void *function = NULL;
#if TOOLKIT == 12
    int status = -1;
    EXPECT(cudaGetDriverEntryPoint("cuInit", &function, 0, &status) == 0 && status == 0);
#else
    EXPECT(cudaGetDriverEntryPoint("cuInit", &function, 0) == 0);
#endif
    EXPECT(function != NULL);
}

/* ---- a kernel as the compiler's host code registers and launches it ---- */

static const char KERNEL[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
                             ".visible .entry put(.param .u64 p) {\n"
                             ".reg .b64 %a;\nld.param.u64 %a, [p];\n"
                             "st.global.u32 [%a], 42;\nret;\n}\n"
                             ".global .texref image;\n.global .surfref surface;\n"
                             ".visible .entry look(.param .u64 p) {\n"
                             ".reg .b64 %a;\n.reg .b32 %r<5>;\nld.param.u64 %a, [p];\n"
                             "mov.u32 %r4, 2;\n"
                             "tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [image, {%r4}];\n"
                             "st.global.u32 [%a], %r0;\nret;\n}\n"
                             ".visible .entry draw(.param .u64 p) {\n"
                             ".reg .b32 %r<2>;\nmov.u32 %r0, 8;\nmov.u32 %r1, 77;\n"
                             "sust.b.1d.b32.trap [surface, {%r0}], {%r1};\nret;\n}\n";

static struct {
    uint8_t header[PTX_FATBIN_TEXT_HEADER_BYTES];
    char text[(sizeof KERNEL + 7) / 8 * 8];
} container;

static struct {
    uint32_t magic;
    uint32_t version;
    void *container;
    void *names;
} wrapper = {.magic = PTX_FATBIN_WRAPPER_MAGIC, .version = 1, .container = &container};

static int put(void *pointer)
{
    struct dim3 grid, block;
    size_t shared_bytes;
    handle stream;
    void *args[] = {&pointer};
    EXPECT(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream) == 0);
    return cudaLaunchKernel((const void *)put, grid, block, args, shared_bytes, stream);
}

static void launch(int (*stub)(void *), void *pointer)
{
    struct dim3 one = {1, 1, 1};
    EXPECT(__cudaPushCallConfiguration(one, one, 0, NULL) == 0);
    EXPECT(stub(pointer) == 0);
}

#if TOOLKIT == 11
struct channels {
    int x, y, z, w, kind;
};

void __cudaRegisterTexture(handle *image, const void *variable, const void **address,
                           const char *name, int dimensions, int reads_parts, int is_external);
void __cudaRegisterSurface(handle *image, const void *variable, const void **address,
                           const char *name, int dimensions, int is_external);
int cudaBindTexture(size_t *offset, const void *reference, const void *memory,
                    const struct channels *channels, size_t bytes);
int cudaUnbindTexture(const void *reference);
int cudaGetTextureReference(const void **reference, const void *symbol);
int cudaBindTextureToArray(const void *reference, handle array, const struct channels *channels);
int cudaBindSurfaceToArray(const void *reference, handle array, const struct channels *channels);
int cudaMallocArray(handle *array, const struct channels *channels, size_t width, size_t height,
                    unsigned flags);
int cudaMemcpyToArray(handle array, size_t x, size_t y, const void *from, size_t bytes, int kind);

/* Zero: elements as they are, indices. */
static struct {
    int normalized, filter, address[3];
    struct channels channels;
    int rest[22];
} image;
static struct channels surface;

static int run_stub(const void *stub, void *pointer)
{
    struct dim3 grid, block;
    size_t shared_bytes;
    handle stream;
    void *args[] = {&pointer};
    EXPECT(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream) == 0);
    return cudaLaunchKernel(stub, grid, block, args, shared_bytes, stream);
}

static int look(void *pointer)
{
    return run_stub((const void *)look, pointer);
}

static int draw(void *pointer)
{
    return run_stub((const void *)draw, pointer);
}

static void check_references(handle *registered)
{
    const struct channels word = {32, 0, 0, 0, 1};
    const unsigned numbers[4] = {10, 20, 30, 40}, others[4] = {1, 2, 3, 4};
    const void *found = NULL;
    unsigned value = 0;
    void *memory = NULL, *out = NULL;
    handle array = NULL;
    __cudaRegisterFunction(registered, (const void *)look, "look", "look", -1, NULL, NULL, NULL,
                           NULL, NULL);
    __cudaRegisterFunction(registered, (const void *)draw, "draw", "draw", -1, NULL, NULL, NULL,
                           NULL, NULL);
    __cudaRegisterTexture(registered, &image, NULL, "image", 1, 0, 0);
    __cudaRegisterSurface(registered, &surface, NULL, "surface", 1, 0);
    EXPECT(cudaGetTextureReference(&found, &image) == 0 && found == &image);
    EXPECT(cudaGetTextureReference(&found, &surface) == 18);
    EXPECT(cudaMalloc(&memory, sizeof numbers) == 0 && cudaMalloc(&out, sizeof value) == 0);
    EXPECT(cudaMemcpy(memory, numbers, sizeof numbers, 1) == 0);
    EXPECT(cudaBindTexture(NULL, &image, memory, &word, sizeof numbers) == 0);
    launch(look, out);
    EXPECT(cudaMemcpy(&value, out, sizeof value, 2) == 0 && value == 30);
    EXPECT(cudaUnbindTexture(&image) == 0);
    EXPECT(cudaMallocArray(&array, &word, 4, 0, 2 /* surfaces */) == 0);
    EXPECT(cudaMemcpyToArray(array, 0, 0, others, sizeof others, 1) == 0);
    EXPECT(cudaBindTextureToArray(&image, array, &word) == 0);
    launch(look, out);
    EXPECT(cudaMemcpy(&value, out, sizeof value, 2) == 0 && value == 3);
    EXPECT(cudaBindSurfaceToArray(&surface, array, &word) == 0);
    EXPECT(cudaBindSurfaceToArray(&image, array, &word) == 37);
    launch(draw, out);
    EXPECT(cudaBindTexture(NULL, &surface, memory, &word, sizeof numbers) == 18);
    EXPECT(cudaUnbindTexture(&image) == 0);
    EXPECT(cudaBindTextureToArray(&image, array, &word) == 0);
    launch(look, out);
    EXPECT(cudaMemcpy(&value, out, sizeof value, 2) == 0 && value == 77);
}
#endif

static void check_kernel(void)
{
    struct ptx_span text = {(const uint8_t *)KERNEL, sizeof KERNEL};
    ptx_fatbin_write_text_header(text, container.header);
    memcpy(container.text, KERNEL, sizeof KERNEL);
    handle *registered = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(registered, (const void *)put, "put", "put", -1, NULL, NULL, NULL, NULL,
                           NULL);
    __cudaRegisterFatBinaryEnd(registered);
    void *pointer;
    int value = 0;
    unsigned char attributes[256];
    memset(attributes, MARK, sizeof attributes);
    EXPECT(cudaFuncGetAttributes(attributes, (const void *)put) == 0);
    EXPECT(written(attributes, sizeof attributes) == (TOOLKIT == 12 ? 144 : 56));
    EXPECT(cudaMalloc(&pointer, sizeof value) == 0);
    launch(put, pointer);
    EXPECT(cudaMemcpy(&value, pointer, sizeof value, 2) == 0);
    EXPECT(value == 42);
#if TOOLKIT == 11
    check_references(registered);
#endif
    __cudaUnregisterFatBinary(registered);
}

/* What the program does, for who loads it as a plugin. */
__attribute__((visibility("default"))) int run_plugin(void);

int run_plugin(void)
{
    int version = 0;
    EXPECT(cudaRuntimeGetVersion(&version) == 0);
    EXPECT(version / 1000 == TOOLKIT);
    check_properties(cudaGetDeviceProperties, 728);
    check_memory();
    check_graphs();
    check_streams();
    check_entry_point();
#if TOOLKIT == 12
    check_properties(cudaGetDeviceProperties_v2, 1032);
#endif
    check_kernel();
    if (!failures)
        printf("toolkit %d: all passed\n", TOOLKIT);
    return failures != 0;
}

int main(void)
{
    return run_plugin();
}
