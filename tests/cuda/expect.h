// SPDX-License-Identifier: Apache-2.0
// Checks shared by these programs: a broken expectation is printed and counted, the program goes
// on.
#ifndef PTXRUN_TESTS_CUDA_EXPECT_H
#define PTXRUN_TESTS_CUDA_EXPECT_H

#include <cstdio>

static int broken_expectations = 0;

// The claim must hold.
#define EXPECT(claim)                                                                              \
    do {                                                                                           \
        if (!(claim)) {                                                                            \
            std::printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #claim);                      \
            broken_expectations++;                                                                 \
        }                                                                                          \
    } while (0)

// The CUDA call must return this very error.
#define EXPECT_CODE(code, call)                                                                    \
    do {                                                                                           \
        cudaError_t expect_code_is = (call);                                                       \
        if (expect_code_is != (code)) {                                                            \
            std::printf("%s:%d: %s gave %d (%s), expected %s\n", __FILE__, __LINE__, #call,        \
                        (int)expect_code_is, cudaGetErrorName(expect_code_is), #code);             \
            broken_expectations++;                                                                 \
        }                                                                                          \
    } while (0)

#define EXPECT_OK(call) EXPECT_CODE(cudaSuccess, call)

// Prints the verdict and gives the exit status of the program.
static inline int verdict(const char *name)
{
    std::printf("%s: %s\n", name, broken_expectations == 0 ? "PASSED" : "FAILED");
    return broken_expectations == 0 ? 0 : 1;
}

#endif
