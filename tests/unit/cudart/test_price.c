/* SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic of tiers: what best code should cost, and when quick code has earned it.
 */
#include <criterion/criterion.h>

#include "cudart/core/code/price.h"

#define MS UINT64_C(1000000)

Test(price, is_earned_when_quick_code_has_run_so_long)
{
    cr_expect_not(crt_price_is_earned(10 * MS, 0, 0));
    cr_expect_not(crt_price_is_earned(10 * MS, 10 * MS - 1, 0));
    cr_expect(crt_price_is_earned(10 * MS, 10 * MS, 0));
    cr_expect(crt_price_is_earned(10 * MS, UINT64_MAX, 0));
    cr_expect(crt_price_is_earned(0, 0, 0));
}

Test(price, a_promise_counts_for_a_half_if_it_is_worth_twice_as_much)
{
    cr_expect_not(crt_price_is_earned(10 * MS, 5 * MS - 1, UINT64_MAX));
    cr_expect_not(crt_price_is_earned(10 * MS, 5 * MS, 20 * MS - 2));
    cr_expect(crt_price_is_earned(10 * MS, 5 * MS, 20 * MS));
    cr_expect_not(crt_price_is_earned(10 * MS, 9 * MS, 0));
}

Test(price, a_promise_is_that_the_rest_is_as_what_was)
{
    cr_expect_eq(crt_price_promise(6 * MS, 3, 7), 14 * MS);
    cr_expect_eq(crt_price_promise(6 * MS, 3, 0), 0);
    cr_expect_eq(crt_price_promise(6 * MS, 0, 7), 0);
    cr_expect_eq(crt_price_promise(UINT64_MAX, 1, UINT64_MAX), UINT64_MAX / 2);
}

Test(price, grows_with_the_kernel)
{
    cr_expect_gt(crt_price_predict(101, 5000, 0), crt_price_predict(100, 5000, 0));
    cr_expect_gt(crt_price_predict(100, 5001, 0), crt_price_predict(100, 5000, 0));
    cr_expect_gt(crt_price_predict(UINT32_MAX, UINT32_MAX, 0), UINT64_C(1) << 40);
    cr_expect_gt(crt_price_predict(UINT32_MAX, UINT32_MAX, UINT64_C(1) << 40), UINT64_C(1) << 40);
}

Test(price, knows_the_machine_by_what_quick_code_has_taken)
{
    uint64_t by_size = crt_price_predict(200, 15000, 0);
    cr_expect_lt(crt_price_predict(200, 15000, by_size / 20), by_size);
    cr_expect_gt(crt_price_predict(200, 15000, by_size / 3), by_size);
    /* One that is set back four times does not deceive by more than twice. */
    uint64_t set_back = crt_price_predict(200, 15000, 4 * MS * 10);
    cr_expect_leq(set_back, 2 * crt_price_predict(200, 15000, MS * 10) + 1);
}

Test(price, learns_from_what_compilations_took)
{
    cr_expect_eq(crt_price_correct(10 * MS, 0, 0), 10 * MS);
    cr_expect_eq(crt_price_correct(10 * MS, 700 * MS, 700 * MS), 10 * MS);
    uint64_t slower = crt_price_correct(10 * MS, 1000 * MS, 2000 * MS);
    cr_expect(slower > 19 * MS && slower < 20 * MS);
    uint64_t faster = crt_price_correct(10 * MS, 2000 * MS, 1000 * MS);
    cr_expect(faster > 5 * MS && faster < 6 * MS);
    /* One of them alone says little, and nothing is that far off. */
    cr_expect_lt(crt_price_correct(10 * MS, 1 * MS, 10 * MS), 13 * MS);
    cr_expect_eq(crt_price_correct(10 * MS, 1 * MS, 1000000 * MS), 80 * MS);
    cr_expect_eq(crt_price_correct(80 * MS, 1000000 * MS, 1 * MS), 10 * MS);
}

/* Whatever a program does: it stops after so much quick time. Buying when the price has been
 * reached costs at most twice what the better of never and at once would have. */
Test(price, costs_at_most_twice_the_optimum)
{
    for (uint64_t price = 10; price <= 1000; price *= 10) {
        for (uint64_t total = 1; total < 20 * price; total++) {
            for (uint64_t speed = 1; speed <= 8; speed *= 2) {
                uint64_t ran = 0;
                while (ran < total && !crt_price_is_earned(price, ran, 0))
                    ran++;
                bool is_bought = ran < total;
                double cost = (double)ran + (is_bought ? (double)price : 0) +
                              (double)(total - ran) / (double)speed;
                double at_once = (double)price + (double)total / (double)speed;
                double best = at_once < (double)total ? at_once : (double)total;
                cr_assert_leq(cost, 2 * best + 1);
            }
        }
    }
}
