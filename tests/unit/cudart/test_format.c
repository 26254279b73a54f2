/* SPDX-License-Identifier: Apache-2.0
 *
 * Formatting of device printf, and the order in which text comes out.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/code/printf.h"

/* Builds an argument block as compiled kernels do: each at its natural alignment. */
struct block {
    _Alignas(8) uint8_t bytes[256];
    size_t len;
};

static void put(struct block *block, const void *value, size_t bytes)
{
    block->len = (block->len + bytes - 1) / bytes * bytes;
    memcpy(block->bytes + block->len, value, bytes);
    block->len += bytes;
}

#define PUT(block, type, ...) put(block, &(type){__VA_ARGS__}, sizeof(type))

static void expect(const char *format, const struct block *block, const char *wanted)
{
    char *text;
    size_t len;
    crt_format(format, block->bytes, &text, &len);
    cr_assert_not_null(text);
    cr_expect_eq(len, strlen(wanted), "'%.*s' is not '%s'", (int)len, text, wanted);
    cr_expect(memcmp(text, wanted, len) == 0, "'%.*s' is not '%s'", (int)len, text, wanted);
    free(text);
}

Test(format, arguments_are_taken_at_their_alignment)
{
    struct block block = {0};
    PUT(&block, int, -5);
    PUT(&block, double, 2.5);
    PUT(&block, int, 'x');
    PUT(&block, long long, 1LL << 40);
    expect("%d %f %c %lld\n", &block, "-5 2.500000 x 1099511627776\n");
}

Test(format, strings_are_read_through_their_pointer)
{
    struct block block = {0};
    PUT(&block, const char *, "hello");
    PUT(&block, const char *, NULL);
    PUT(&block, const char *, "cut");
    expect("[%8s] %s [%.2s]", &block, "[   hello] (null) [cu]");
}

Test(format, flags_width_and_precision_work)
{
    struct block block = {0};
    PUT(&block, int, 42);
    PUT(&block, int, 42);
    PUT(&block, int, 255);
    PUT(&block, int, 7);
    PUT(&block, int, 3);
    PUT(&block, double, 3.14159);
    expect("%05d|%-5d|%#x|%*d|%.2e", &block, "00042|42   |0xff|      3|3.14e+00");
}

Test(format, nan_has_its_sign_as_on_devices)
{
    struct block block = {0};
    PUT(&block, double, -__builtin_nan(""));
    PUT(&block, double, __builtin_nan("5"));
    PUT(&block, double, -__builtin_inf());
    expect("%f %6.1e %g", &block, "-nan    nan -inf");
}

Test(format, unsigned_and_long_values_keep_their_bits)
{
    struct block block = {0};
    PUT(&block, unsigned, 4000000000u);
    PUT(&block, unsigned long, 0xffffffffffffffffUL);
    PUT(&block, int, 300);
    expect("%u %lx %hhd", &block, "4000000000 ffffffffffffffff 300");
}

Test(format, a_percent_sign_and_unknown_conversions_stay)
{
    struct block block = {0};
    expect("100%% %y %", &block, "100% %y %");
}

Test(format, a_long_line_is_not_cut)
{
    struct block block = {0};
    char wanted[901];
    memset(wanted, ' ', 900);
    wanted[899] = '1';
    wanted[900] = '\0';
    PUT(&block, int, 900);
    PUT(&block, int, 1);
    expect("%*d", &block, wanted);
}

static struct crt_launch *make_launch(uint64_t number)
{
    struct crt_launch *launch = calloc(1, sizeof *launch);
    launch->number = number;
    return launch;
}

static void add(struct crt_launch *launch, uint64_t block, const char *text)
{
    crt_printf_add(launch, block, text, strlen(text));
}

Test(printf, output_is_ordered_by_launch_then_block_then_time, .init = cr_redirect_stdout)
{
    struct crt_launch *first = make_launch(1);
    struct crt_launch *second = make_launch(2);
    add(second, 0, "D");
    add(first, 7, "C");
    add(first, 0, "a");
    add(first, 3, "B");
    add(first, 0, "b");
    add(first, 7, "c\n");
    crt_printf_collect(second);
    crt_printf_collect(first);
    crt_printf_flush();
    cr_assert_stdout_eq_str("abBCc\nD");
    free(first);
    free(second);
}
