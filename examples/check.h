// SPDX-License-Identifier: Apache-2.0
// What every example needs: stop with a message at the first failing CUDA call, and one line of
// verdict.
#ifndef PTXRUN_EXAMPLES_CHECK_H
#define PTXRUN_EXAMPLES_CHECK_H

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t check_error = (call);                                                          \
        if (check_error != cudaSuccess) {                                                          \
            std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, cudaGetErrorName(check_error),      \
                        cudaGetErrorString(check_error));                                          \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

// Prints the verdict and gives the exit status of the program.
static inline int finish(const char *name, bool is_right)
{
    std::printf("%s: %s\n", name, is_right ? "PASSED" : "FAILED");
    return is_right ? 0 : 1;
}

#endif
