// SPDX-License-Identifier: Apache-2.0
// A process ends when it says so, whatever kernels still run: by return from main, by exit in a
// host function, with a destructor that calls CUDA. Each case is a child process, forked before
// first use.
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

__device__ volatile int never;

__global__ void spin()
{
    while (!never) {
    }
}

__global__ void number(int *value)
{
    value[threadIdx.x] = threadIdx.x;
}

// Frees when the process ends, after main and maybe from a thread of the CUDA library.
struct owner {
    int *memory = nullptr;
    ~owner()
    {
        if (memory) {
            cudaFree(memory);
        }
    }
};

static owner at_exit;

static void start_spinning()
{
    spin<<<8, 64>>>();
    EXPECT_OK(cudaGetLastError());
}

static void leave(void *)
{
    exit(42);
}

static void exit_while_a_kernel_runs()
{
    start_spinning();
    exit(42);
}

static void exit_in_host_function()
{
    EXPECT_OK(cudaMalloc(&at_exit.memory, 256));
    number<<<1, 32>>>(at_exit.memory);
    EXPECT_OK(cudaLaunchHostFunc(0, leave, nullptr));
    cudaDeviceSynchronize();
    exit(1);
}

static void exit_with_a_destructor()
{
    EXPECT_OK(cudaMalloc(&at_exit.memory, 256));
    number<<<1, 32>>>(at_exit.memory);
    exit(42);
}

// In a child, so that a hang is an alarm's death by SIGALRM.
static void try_in_child(const char *name, void (*action)())
{
    std::fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        action();
    }
    int status = 0;
    EXPECT(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status)) {
        std::printf("%s: signal %d\n", name, WTERMSIG(status));
    } else {
        std::printf("%s: status %d\n", name, WEXITSTATUS(status));
    }
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

int main()
{
    try_in_child("exit while a kernel runs", exit_while_a_kernel_runs);
    try_in_child("exit in a host function", exit_in_host_function);
    try_in_child("exit with a destructor that frees", exit_with_a_destructor);
    return verdict("exit_while_running");
}
