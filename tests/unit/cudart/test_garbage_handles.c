/* SPDX-License-Identifier: Apache-2.0
 *
 * Values that are no handles, in the place of each handle of each function: an error code, never a
 * crash. Rows are in garbage_handles.def; one may use h (struct handles) and G (a void pointer).
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "driver_fixture.h"

#define SCRATCH_BYTES 4096

/* What the other arguments of a row are. */
struct handles {
    CUcontext ctx;
    CUstream stream;
    CUevent event;
    CUlibrary library;
    CUmodule module;
    CUfunction kernel;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUarray array;
    CUmipmappedArray mipmap;
    CUlinkState link;
    CUmemoryPool pool;
    CUuserObject user_object;
    CUmemGenericAllocationHandle physical;
    CUdeviceptr memory;
    CUevent dead_event;
    CUstream dead_stream;
    void *scratch; /* SCRATCH_BYTES of zeros */
};

static const char kernel_ptx[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                                 ".visible .global .align 4 .u32 variable = 1;\n"
                                 ".visible .entry store() { ret; }\n";

static void no_destructor(void *data)
{
    (void)data;
}

static void make_handles(struct handles *h)
{
    static _Alignas(16) char scratch[SCRATCH_BYTES];
    CUmemAllocationProp prop = {.type = 1, .location = {1, 0}};
    make_context();
    h->scratch = scratch;
    OK(cuCtxGetCurrent(&h->ctx));
    OK(cuStreamCreate(&h->stream, 0));
    OK(cuStreamCreate(&h->dead_stream, 0));
    OK(cuEventCreate(&h->event, 0));
    OK(cuEventCreate(&h->dead_event, 0));
    OK(cuLibraryLoadData(&h->library, kernel_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuModuleLoadData(&h->module, kernel_ptx));
    OK(cuModuleGetFunction(&h->kernel, h->module, "store"));
    OK(cuGraphCreate(&h->graph, 0));
    OK(cuGraphAddEmptyNode(&h->node, h->graph, NULL, 0));
    OK(cuGraphInstantiateWithFlags(&h->exec, h->graph, 0));
    OK(cuLinkCreate_v2(0, NULL, NULL, &h->link));
    OK(cuDeviceGetDefaultMemPool(&h->pool, 0));
    OK(cuUserObjectCreate(&h->user_object, scratch, no_destructor, 1, 1));
    OK(cuMemCreate(&h->physical, (size_t)2 << 20, &prop, 0));
    OK(cuMemAlloc_v2(&h->memory, SCRATCH_BYTES));
    OK(cuEventDestroy_v2(h->dead_event));
    OK(cuStreamDestroy_v2(h->dead_stream));
}

enum { GARBAGE_MAX = 32 };

/* Addresses that nothing, or something else, is at. Those of one kind are no garbage to functions
 * that want this kind, so objects come in through their inside, or are dead. */
static unsigned make_garbage(const struct handles *h, void *garbage[GARBAGE_MAX])
{
    static char data[256] = "no handle";
    unsigned count = 0;
    char *gone = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *closed = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(gone, 1 << 20);
    void *const list[] = {
        (void *)(uintptr_t)3,
        (void *)(uintptr_t)8,
        (void *)(uintptr_t)4096,
        (void *)(uintptr_t)0xdeadbeef,
        (void *)(uintptr_t)0x123456789ab8,
        (void *)(uintptr_t)0x7ffffffff000,
        (void *)(uintptr_t)0x800000000000,
        (void *)(uintptr_t)0xdead000000000040,
        (void *)(uintptr_t)0xffffffff81000000,
        (void *)(uintptr_t)-64,
        (void *)(uintptr_t)-1,
        gone,
        gone + 64,
        gone + 1,
        closed,
        closed + 64,
        data,
        &data[1],
        (void *)(uintptr_t)cuInit,
        (void *)(uintptr_t)h->memory,
        (char *)h->event + 1,
        (char *)h->event + 8,
        (char *)h->event + 64,
        (char *)h->stream + ((uintptr_t)1 << 20),
        (char *)h->stream - ((uintptr_t)1 << 20),
    };
    for (; count < sizeof list / sizeof list[0]; count++)
        garbage[count] = list[count];
    return count;
}

static const char *const calls[] = {
#define GARBAGE(function, ...) #function "(" #__VA_ARGS__ ")",
#include "garbage_handles.def"
#undef GARBAGE
};

#define CALLS (sizeof calls / sizeof calls[0])

static CUresult run(size_t wanted, struct handles *h, void *G)
{
    size_t call = 0;
#define GARBAGE(function, ...)                                                                     \
    if (call++ == wanted)                                                                          \
        return function(__VA_ARGS__);
#include "garbage_handles.def"
#undef GARBAGE
    return CRT_SUCCESS;
}

/* All in one process: a call must leave everything usable for the next. */
Test(garbage, no_value_in_the_place_of_a_handle_crashes)
{
    struct handles h;
    void *garbage[GARBAGE_MAX];
    make_handles(&h);
    unsigned count = make_garbage(&h, garbage);
    for (size_t call = 0; call < CALLS; call++) {
        for (unsigned i = 0; i < count; i++) {
            memset(h.scratch, 0, SCRATCH_BYTES);
            api_wanted = CRT_INVALID_HANDLE; // or some other error
            CUresult got = run(call, &h, garbage[i]);
            api_wanted = 0;
            cr_expect_neq(got, CRT_SUCCESS, "%s took %p for a handle", calls[call], garbage[i]);
        }
    }
    EXPECT(CRT_SUCCESS, cuCtxSynchronize());
}

/* The functions that programs call most, with their code. */
Test(garbage, a_stream_at_an_unmapped_address_is_an_invalid_handle)
{
    struct handles h;
    void *garbage[GARBAGE_MAX];
    make_handles(&h);
    unsigned count = make_garbage(&h, garbage);
    garbage[count++] = h.dead_stream;
    garbage[count++] = h.event;
    for (unsigned i = 0; i < count; i++) {
        EXPECT(CRT_INVALID_HANDLE, cuStreamSynchronize(garbage[i]));
        EXPECT(CRT_INVALID_HANDLE, cuStreamDestroy_v2(garbage[i]));
        EXPECT(CRT_INVALID_HANDLE, cuMemsetD8Async(h.memory, 0, 1, garbage[i]));
        EXPECT(CRT_INVALID_HANDLE,
               cuLaunchKernel(h.kernel, 1, 1, 1, 1, 1, 1, 0, garbage[i], NULL, NULL));
        if (garbage[i] == h.event)
            continue;
        EXPECT(CRT_INVALID_HANDLE, cuEventSynchronize(garbage[i]));
        EXPECT(CRT_INVALID_HANDLE,
               cuLaunchKernel(garbage[i], 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
        EXPECT(CRT_INVALID_CONTEXT, cuCtxSetCurrent(garbage[i]));
    }
}

/* A copy of a live object's bytes is no object. */
Test(garbage, copies_of_objects_are_no_objects)
{
    static _Alignas(64) char copy[64];
    struct handles h;
    make_handles(&h);
    memcpy(copy, h.stream, sizeof copy);
    EXPECT(CRT_INVALID_HANDLE, cuStreamSynchronize((CUstream)(void *)copy));
}
