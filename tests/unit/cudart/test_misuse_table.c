/* SPDX-License-Identifier: Apache-2.0
 *
 * Misuses of both APIs, one row each in the misuse_*.def files:
 *     MISUSE(group, name, wanted, call)
 * call is an expression that gives an error code; it may use h (struct handles), and be a statement
 * expression when it takes several steps. Each row starts from handles of its own, and
 * everything it leaves behind ends with them. The code wanted is the one that the documentation of
 * the function lists.
 */
#include <stdio.h>
#include <stdlib.h>

#include "driver_fixture.h"
#include "runtime_fixture.h"

#define MEMORY_BYTES 4096

/* Everything a row may use wrongly. The dead ones have been destroyed. */
struct handles {
    CUcontext ctx; /* the primary one, current */
    CUcontext other_ctx;
    CUcontext dead_ctx;
    CUstream stream;
    CUstream dead_stream;
    CUstream other_stream; /* of other_ctx */
    CUevent event;
    CUevent untimed_event; /* CU_EVENT_DISABLE_TIMING */
    CUevent dead_event;
    CUdeviceptr memory; /* MEMORY_BYTES of device memory */
    CUdeviceptr dead_memory;
    char *host;   /* MEMORY_BYTES the API does not know */
    char *pinned; /* MEMORY_BYTES of cuMemHostAlloc */
    CUmodule module;
    CUmodule dead_module;
    CUfunction kernel; /* of one parameter, a pointer */
    CUgraph graph;     /* with one empty node */
    CUgraph dead_graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUgraphExec dead_exec;
    CUmemoryPool pool;
};

static const char kernel_ptx[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                                 ".visible .global .align 4 .u32 variable = 1;\n"
                                 ".visible .entry store(.param .u64 out)\n"
                                 "{\n .reg .b64 %rd<2>;\n ld.param.u64 %rd1, [out];\n"
                                 " st.global.u32 [%rd1], 1; ret;\n}\n";

static void make_dead(struct handles *h)
{
    CUcontext popped;
    OK(cuCtxCreate_v2(&h->dead_ctx, 0, 0));
    OK(cuCtxCreate_v2(&h->other_ctx, 0, 0));
    OK(cuStreamCreate(&h->other_stream, 0));
    OK(cuCtxPopCurrent_v2(&popped));
    OK(cuCtxPopCurrent_v2(&popped));
    OK(cuCtxDestroy_v2(h->dead_ctx));
    OK(cuStreamCreate(&h->dead_stream, 0));
    OK(cuEventCreate(&h->dead_event, 0));
    OK(cuMemAlloc_v2(&h->dead_memory, MEMORY_BYTES));
    OK(cuModuleLoadData(&h->dead_module, kernel_ptx));
    OK(cuGraphCreate(&h->dead_graph, 0));
    OK(cuGraphInstantiateWithFlags(&h->dead_exec, h->dead_graph, 0));
}

/* After the live ones are made, so that no dead handle comes to life again. */
static void kill_dead(struct handles *h)
{
    OK(cuStreamDestroy_v2(h->dead_stream));
    OK(cuEventDestroy_v2(h->dead_event));
    OK(cuMemFree_v2(h->dead_memory));
    OK(cuModuleUnload(h->dead_module));
    OK(cuGraphExecDestroy(h->dead_exec));
    OK(cuGraphDestroy(h->dead_graph));
}

static void make_handles(struct handles *h)
{
    setenv("PTXRUN_DEVICES", "2", 1);
    make_context();
    OK(cuCtxGetCurrent(&h->ctx));
    make_dead(h);
    OK(cuStreamCreate(&h->stream, 1 /* non-blocking */));
    OK(cuEventCreate(&h->event, 0));
    OK(cuEventCreate(&h->untimed_event, 2));
    OK(cuMemAlloc_v2(&h->memory, MEMORY_BYTES));
    OK(cuMemHostAlloc((void **)&h->pinned, MEMORY_BYTES, 0));
    h->host = calloc(1, MEMORY_BYTES);
    OK(cuModuleLoadData(&h->module, kernel_ptx));
    OK(cuModuleGetFunction(&h->kernel, h->module, "store"));
    OK(cuGraphCreate(&h->graph, 0));
    OK(cuGraphAddEmptyNode(&h->node, h->graph, NULL, 0));
    OK(cuGraphInstantiateWithFlags(&h->exec, h->graph, 0));
    OK(cuDeviceGetDefaultMemPool(&h->pool, 0));
    kill_dead(h);
}

#define MISUSE(group, name, wanted, call)                                                          \
    static int group##_##name(struct handles *h)                                                   \
    {                                                                                              \
        (void)h;                                                                                   \
        return (int)(call);                                                                        \
    }
#include "misuse_all.def"
#undef MISUSE

static const struct misuse {
    const char *name;
    int wanted;
    int (*run)(struct handles *h);
} misuses[] = {
#define MISUSE(group, name, wanted, call) {#group ": " #name, (int)(wanted), group##_##name},
#include "misuse_all.def"
#undef MISUSE
};

/* Rows are run in one process: a misuse must leave everything usable for the next. */
Test(misuse_table, every_misuse_gets_the_error_code_of_its_documentation)
{
    for (size_t i = 0; i < sizeof misuses / sizeof misuses[0]; i++) {
        struct handles h = {0};
        make_handles(&h);
        api_wanted = misuses[i].wanted;
        int got = misuses[i].run(&h);
        api_wanted = 0;
        cr_expect_eq(got, misuses[i].wanted, "%s gave %d, not %d", misuses[i].name, got,
                     misuses[i].wanted);
        free(h.host);
        OK(cuCtxDestroy_v2(h.other_ctx));
        OK(cuDevicePrimaryCtxReset_v2(0));
    }
}
