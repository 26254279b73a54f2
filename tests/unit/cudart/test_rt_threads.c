/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime API from many threads at once: programs registered and given back, first launches,
 * variables, last errors. Meant for ThreadSanitizer as much as for its own checks.
 */
#include "driver_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cudart/runtime/runtime.h"

#define THREADS 8
#define SECONDS 1

static const char program_ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .u32 variable = 5;\n"
    ".visible .global .attribute(.managed) .align 4 .u32 managed = 9;\n"
    ".visible .entry store(.param .u64 out, .param .u32 value)\n"
    "{\n .reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
    " ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [value];\n"
    " st.global.u32 [%rd1], %r1; ret;\n}\n";

static const struct cuda_dim3 ONE = {1, 1, 1};

/* One kernel that all launch, and for each thread a program of its own. */
static void shared_stub(void)
{
}
static unsigned shared_variable;
static unsigned *shared_managed;
static char own_stubs[THREADS];
static atomic_bool is_over;

struct worker {
    pthread_t thread;
    unsigned number;
    unsigned rounds;
    unsigned failures;
};

#define DO(call)                                                                                   \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%d: %s gave %d\n", __LINE__, #call, (int)error_);                     \
            worker->failures++;                                                                    \
            return;                                                                                \
        }                                                                                          \
    } while (0)
#define WANT(condition) DO((condition) ? cudaSuccess : cudaErrorUnknown)

static void **register_program(const void *stub)
{
    void **program = __cudaRegisterFatBinary((void *)(uintptr_t)program_ptx);
    __cudaRegisterFunction(program, stub, NULL, "store", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(program);
    return program;
}

static void use_runtime(struct worker *worker)
{
    unsigned *memory = NULL;
    unsigned value = 100 + worker->number;
    unsigned got = 0;
    void *args[] = {&memory, &value};
    cudaStream_t stream = NULL;
    struct cudaFuncAttributes attributes;
    DO(cudaStreamCreate(&stream));
    DO(cudaMalloc((void **)&memory, 4));
    DO(cudaLaunchKernel((const void *)shared_stub, ONE, ONE, args, 0, stream));
    DO(cudaMemcpyAsync(&got, memory, 4, cudaMemcpyDeviceToHost, stream));
    DO(cudaStreamSynchronize(stream));
    WANT(got == value);
    DO(cudaMemcpyFromSymbol(&got, &shared_variable, 4, 0, cudaMemcpyDeviceToHost));
    WANT(got == 5);
    WANT(*shared_managed == 9);
    DO(cudaFuncGetAttributes(&attributes, (const void *)shared_stub));
    DO(cudaStreamDestroy(stream));

    void **program = register_program(&own_stubs[worker->number]);
    value += 1000;
    DO(cudaLaunchKernel(&own_stubs[worker->number], ONE, ONE, args, 0, NULL));
    DO(cudaMemcpy(&got, memory, 4, cudaMemcpyDeviceToHost));
    WANT(got == value);
    __cudaUnregisterFatBinary(program);
    DO(cudaFree(memory));

    WANT(cudaSetDevice((int)worker->number + 100) == cudaErrorInvalidDevice);
    WANT(cudaGetLastError() == cudaErrorInvalidDevice);
    WANT(cudaGetLastError() == cudaSuccess);
}

static void *work(void *arg)
{
    struct worker *worker = arg;
    do {
        use_runtime(worker);
        worker->rounds++;
    } while (!atomic_load(&is_over) && !worker->failures);
    return NULL;
}

Test(rt_threads, programs_are_registered_launched_and_given_back_from_many_threads)
{
    static struct worker workers[THREADS];
    struct timespec second = {.tv_sec = SECONDS};
    void **program = register_program((const void *)shared_stub);
    __cudaRegisterVar(program, (char *)&shared_variable, NULL, "variable", 0, 4, 0, 0);
    __cudaRegisterManagedVar(program, (void **)&shared_managed, NULL, "managed", 0, 4, 0, 0);
    /* Nothing has been initialised yet: the threads do that as well. */
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].number = i;
        cr_assert(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    nanosleep(&second, NULL);
    atomic_store(&is_over, 1);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        cr_expect(workers[i].failures == 0, "thread %u", i);
        cr_expect(workers[i].rounds > 0, "thread %u has done something", i);
    }
    cr_expect(cudaDeviceSynchronize() == cudaSuccess);
    cr_expect(cudaPeekAtLastError() == cudaSuccess);
}
