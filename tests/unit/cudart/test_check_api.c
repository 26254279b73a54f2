/* SPDX-License-Identifier: Apache-2.0
 *
 * --check=api: which errors of the API count as not looked at, and which copies are to come.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "cudart/core/base/host_frames.h"
#include "cudart/core/check/api_errors.h"
#include "cudart/core/check/findings.h"
#include "cudart/core/memory/pending_copies.h"

#define INVALID_VALUE   1
#define NO_MEMORY       2
#define ILLEGAL_ADDRESS 700

static void begin(void)
{
    setenv("PTXRUN_CHECK", "api", 1);
    setenv("PTXRUN_ERROR_EXITCODE", "0", 1);
    cr_assert_not_null(freopen("/dev/null", "w", stderr));
}

static size_t count_places(enum crt_finding_kind kind, uint64_t *times)
{
    size_t count;
    size_t places = 0;
    const struct crt_found *found = crt_findings(&count);
    *times = 0;
    for (size_t i = 0; i < count; i++) {
        places += found[i].first.kind == kind;
        *times += found[i].first.kind == kind ? found[i].count : 0;
    }
    return places;
}

static void expect(enum crt_finding_kind kind, size_t places, uint64_t times)
{
    uint64_t found;
    cr_expect_eq(count_places(kind, &found), places);
    cr_expect_eq(found, times);
}

Test(check_api, errors_that_nobody_asks_for_are_found)
{
    begin();
    for (int i = 0; i < 3; i++)
        crt_api_error(INVALID_VALUE);
    crt_api_error(NO_MEMORY);
    crt_api_errors_end(0);
    expect(CRT_FINDING_IGNORED_ERROR, 2, 4); /* two calls, one of them three times */
}

Test(check_api, who_asks_for_the_last_error_has_looked)
{
    begin();
    crt_api_error(INVALID_VALUE);
    crt_api_error(NO_MEMORY);
    crt_api_error_asked();
    crt_api_errors_end(0);
    expect(CRT_FINDING_IGNORED_ERROR, 0, 0);
}

Test(check_api, who_asks_before_has_not_looked)
{
    begin();
    crt_api_error_asked();
    crt_api_error(INVALID_VALUE);
    crt_api_errors_end(0);
    expect(CRT_FINDING_IGNORED_ERROR, 1, 1);
}

Test(check_api, who_asks_what_an_error_is_has_looked_at_that_one)
{
    begin();
    crt_api_error(INVALID_VALUE);
    crt_api_error(NO_MEMORY);
    crt_api_error_named(NO_MEMORY);
    crt_api_errors_end(0);
    expect(CRT_FINDING_IGNORED_ERROR, 1, 1);
}

static void *ask(void *unused)
{
    crt_api_error_asked();
    return unused;
}

Test(check_api, each_thread_has_its_own_last_error)
{
    pthread_t thread;
    begin();
    crt_api_error(INVALID_VALUE);
    cr_assert_eq(pthread_create(&thread, NULL, ask, NULL), 0);
    pthread_join(thread, NULL);
    crt_api_errors_end(0);
    expect(CRT_FINDING_IGNORED_ERROR, 1, 1);
}

Test(check_api, a_program_that_fails_has_noticed_all_but_launches)
{
    begin();
    crt_api_error(INVALID_VALUE);
    crt_api_launch_error(INVALID_VALUE, "launch of k", "no blocks");
    crt_api_errors_end(1);
    expect(CRT_FINDING_IGNORED_ERROR, 0, 0);
    expect(CRT_FINDING_LAUNCH_FAILED, 1, 1);
}

Test(check_api, the_runtime_tells_an_error_of_a_launch_again)
{
    begin();
    crt_api_launch_error(INVALID_VALUE, "launch of k", "no blocks");
    crt_api_error(INVALID_VALUE);
    crt_api_error(INVALID_VALUE);
    crt_api_errors_end(0);
    expect(CRT_FINDING_LAUNCH_FAILED, 1, 1);
    expect(CRT_FINDING_IGNORED_ERROR, 1, 1);
}

Test(check_api, launches_that_are_asked_for_are_fine)
{
    begin();
    crt_api_launch_error(INVALID_VALUE, "launch of k", "no blocks");
    crt_api_error_asked();
    crt_api_errors_end(0);
    expect(CRT_FINDING_LAUNCH_FAILED, 0, 0);
}

Test(check_api, a_kernels_error_that_no_call_has_returned_is_found)
{
    begin();
    crt_api_fault(ILLEGAL_ADDRESS);
    crt_api_errors_end(0);
    expect(CRT_FINDING_IGNORED_ERROR, 1, 1);
}

Test(check_api, a_kernels_error_that_a_call_has_returned_is_not)
{
    begin();
    crt_api_fault(ILLEGAL_ADDRESS);
    crt_api_fault_told();
    crt_api_errors_end(0);
    expect(CRT_FINDING_IGNORED_ERROR, 0, 0);
}

Test(check_api, many_errors_are_no_harm)
{
    begin();
    for (uint32_t i = 1; i < 2000; i++)
        crt_api_error(i);
    crt_api_errors_end(0);
    uint64_t times;
    count_places(CRT_FINDING_IGNORED_ERROR, &times);
    cr_expect_gt(times, 100);
}

Test(check_api, without_the_check_nothing_is_kept)
{
    setenv("PTXRUN_CHECK", "memory", 1);
    crt_api_error(INVALID_VALUE);
    crt_api_fault(ILLEGAL_ADDRESS);
    crt_api_errors_end(0);
    expect(CRT_FINDING_IGNORED_ERROR, 0, 0);
    cr_expect_null(crt_pending_copy_begin(1000, 10, 2000, 10));
}

Test(check_api, copies_that_are_to_come_are_found_by_both_sides)
{
    struct crt_frames frames = {0};
    begin();
    struct crt_pending_copy *copy = crt_pending_copy_begin(1000, 10, 2000, 20);
    cr_assert_not_null(copy);
    cr_expect(crt_pending_copy_find(990, 11, &frames));
    cr_expect(crt_pending_copy_find(1009, 1, &frames));
    cr_expect(crt_pending_copy_find(2019, 100, &frames));
    cr_expect(crt_pending_copy_find(0, 5000, &frames));
    cr_expect_gt(frames.count, 0);
    cr_expect_not(crt_pending_copy_find(990, 10, &frames));
    cr_expect_not(crt_pending_copy_find(1010, 990, &frames));
    cr_expect_not(crt_pending_copy_find(2020, 100, &frames));
    crt_pending_copy_end(copy);
    cr_expect_not(crt_pending_copy_find(0, 5000, &frames));
}
