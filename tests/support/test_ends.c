/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests that end in all ways: those of suite good pass, those of bad fail, the others where a
 * sanitizer looks (check_ends.sh).
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/leaks.h"

static int is_set_up;

static void set_up(void)
{
    is_set_up = 1;
}

static void fail(void)
{
    cr_assert(0, "not set up");
}

Test(good, passes, .init = set_up)
{
    cr_assert_eq(is_set_up, 1);
}

Test(good, does_not_see_what_others_did)
{
    cr_assert_eq(is_set_up, 0);
}

Test(good, is_skipped)
{
    cr_skip_test("nothing to do");
    cr_assert(0);
}

Test(good, is_killed_as_wanted, .signal = SIGKILL)
{
    raise(SIGKILL);
}

static void lose_memory(void)
{
    *(void *volatile *)calloc(1, sizeof(void *)) = calloc(1, 100);
}

Test(good, leaks_and_is_forgiven)
{
    forgive_leaks();
    lose_memory();
}

Test(bad, fails_and_is_forgiven_leaks)
{
    forgive_leaks();
    cr_assert(0);
}

Test(bad, goes_on_after_a_failure)
{
    cr_expect_eq(1, 2);
    cr_expect_eq(1, 1);
}

Test(bad, ends_with_a_failure)
{
    cr_assert_eq(1, 2, "as it should");
    raise(SIGKILL);
}

Test(bad, is_not_set_up, .init = fail)
{
}

Test(bad, does_not_come_down, .fini = fail)
{
}

Test(bad, leaves)
{
    exit(0);
}

Test(bad, leaves_at_once)
{
    _exit(0);
}

Test(bad, is_late, .timeout = 1)
{
    for (;;)
        pause();
}

Test(bad, is_killed)
{
    raise(SIGKILL);
}

Test(bad, is_not_killed_as_wanted, .signal = SIGKILL)
{
}

Test(address, leaks)
{
    lose_memory();
}

Test(address, reads_behind)
{
    volatile char *bytes = malloc(8);
    cr_expect_eq(bytes[8] - bytes[8], 0);
    free((void *)(uintptr_t)bytes);
}

static int raced;

static void *race(void *argument)
{
    for (int i = 0; i < 1000; i++)
        raced++;
    return argument;
}

Test(thread, races)
{
    pthread_t other;
    cr_assert_eq(pthread_create(&other, NULL, race, NULL), 0);
    race(NULL);
    pthread_join(other, NULL);
}
