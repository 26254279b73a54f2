/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the tests and the CUDA API: tells which functions a test really calls, and what becomes
 * of the test when one of them does nothing. docs/api.md is made from that
 * (tests/tools/api_page.sh).
 *
 * Test files are compiled with a header by which cuInit is tested_cuInit. That is a trampoline of
 * cudart/bridge, which asks api_calls.c at the first call. Calls inside the product, and those of
 * addresses that cuGetProcAddress gives, do not come along.
 *
 * In the environment:
 *   API_CALLS_DIR=DIR        gets an empty file SUITE.TEST.FUNCTION for each function that a test
 * calls API_CALLS_WITHOUT=NAME   this function does nothing and returns 0 (success, or NULL),
 * except where the test expects an error: that would only show that it can refuse
 */
#ifndef PTXRUN_TESTS_CUDART_API_CALLS_H
#define PTXRUN_TESTS_CUDART_API_CALLS_H

/* The code that the test expects of the calls this thread makes just now; 0: success, or not known.
 */
extern _Thread_local int api_wanted;

/* The address of a function itself, which is what cuGetProcAddress gives; NULL if there is none. */
const void *api_address(const char *name);

#endif
