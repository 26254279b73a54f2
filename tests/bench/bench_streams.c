/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether threads with streams of their own hold each other up: what a call costs its thread (in
 * CPU time, so that a busy machine does not count), and how often the thread had to wait.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "cudart/driver/cuda_driver.h"

#define THREADS_MAX 8

static const char kernel_ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                                 ".visible .entry empty() { ret; }\n";

enum kind { RECORD, WAIT, LAUNCH, KIND_COUNT };

static const struct {
    const char *name;
    int calls;
} kinds[KIND_COUNT] = {
    [RECORD] = {"cuEventRecord", 200000},
    [WAIT] = {"cuStreamWaitEvent", 200000},
    [LAUNCH] = {"cuLaunchKernel", 20000},
};

struct user {
    enum kind kind;
    unsigned flags; /* of the stream */
    double call_ns;
    long waits;
};

static CUcontext ctx;
static CUfunction kernel;
static pthread_barrier_t together;

static void check(CUresult result)
{
    if (result == CRT_SUCCESS)
        return;
    fprintf(stderr, "error %d\n", (int)result);
    exit(1);
}

static double thread_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static long waits_so_far(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

static void call(enum kind kind, CUstream stream, CUevent event)
{
    if (kind == RECORD)
        check(cuEventRecord(event, stream));
    else if (kind == WAIT)
        check(cuStreamWaitEvent(stream, event, 0));
    else
        check(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
}

static void *use_stream(void *arg)
{
    struct user *user = arg;
    CUstream stream;
    CUevent event;
    check(cuCtxSetCurrent(ctx));
    check(cuStreamCreate(&stream, user->flags));
    check(cuEventCreate(&event, 2));
    check(cuEventRecord(event, stream));
    pthread_barrier_wait(&together);
    double start_ns = thread_ns();
    long waits = waits_so_far();
    for (int i = 0; i < kinds[user->kind].calls; i++)
        call(user->kind, stream, event);
    user->call_ns = (thread_ns() - start_ns) / kinds[user->kind].calls;
    user->waits = waits_so_far() - waits;
    check(cuStreamSynchronize(stream));
    check(cuStreamDestroy_v2(stream));
    return NULL;
}

static void measure(enum kind kind, unsigned flags, unsigned threads)
{
    struct user users[THREADS_MAX];
    pthread_t ids[THREADS_MAX];
    double call_ns = 0;
    long waits = 0;
    pthread_barrier_init(&together, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        users[i] = (struct user){.kind = kind, .flags = flags};
        pthread_create(&ids[i], NULL, use_stream, &users[i]);
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        call_ns += users[i].call_ns / threads;
        waits += users[i].waits;
    }
    printf("%-18s %-12s %u threads: %7.0f ns, %ld waits\n", kinds[kind].name,
           flags ? "non-blocking" : "blocking", threads, call_ns, waits);
    pthread_barrier_destroy(&together);
}

int main(void)
{
    CUmodule module;
    check(cuInit(0));
    check(cuDevicePrimaryCtxRetain(&ctx, 0));
    check(cuCtxSetCurrent(ctx));
    check(cuModuleLoadData(&module, kernel_ptx));
    check(cuModuleGetFunction(&kernel, module, "empty"));
    for (int kind = 0; kind < KIND_COUNT; kind++)
        for (unsigned flags = 0; flags < 2; flags++)
            for (unsigned threads = 1; threads <= THREADS_MAX; threads *= 2)
                measure((enum kind)kind, flags, threads);
    return 0;
}
