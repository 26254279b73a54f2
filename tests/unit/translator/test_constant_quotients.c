/* SPDX-License-Identifier: Apache-2.0
 *
 * module/constant_quotients.c: products with the inverse of a constant, as compilers write them,
 * and others that are no quotients.
 */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <llvm-c/Analysis.h>

#include "tests/unit/vector/parse_ir.h"
#include "translator/module/module_steps.h"

/* 2 to the power of `shift`, divided by the divisor and rounded up. */
struct inverse {
    uint64_t factor; /* 33 bits at most */
    unsigned shift;  /* 32 at least */
};

/* The shortest inverse that is right for dividends of so many bits. */
static struct inverse inverse_of(uint64_t divisor, unsigned bits)
{
    for (unsigned shift = 32;; shift++) {
        __int128 one = (__int128)1 << shift;
        __int128 factor = (one + divisor - 1) / divisor;
        if (factor * divisor - one <= (__int128)1 << (shift - bits))
            return (struct inverse){.factor = (uint64_t)factor, .shift = shift};
    }
}

/* The function's text after the step. */
static char *divided(const char *body)
{
    char text[1024];
    snprintf(text, sizeof text, "define i32 @f(i32 %%x, i32 %%y) {\n%s  ret i32 %%q\n}\n", body);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse_ir(context, text);
    tr_take_quotients_back(module, true);
    char *message = NULL;
    cr_assert_not(LLVMVerifyModule(module, LLVMReturnStatusAction, &message), "%s", message);
    LLVMDisposeMessage(message);
    char *llvm_text = LLVMPrintModuleToString(module);
    char *result = strdup(llvm_text);
    LLVMDisposeMessage(llvm_text);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return result;
}

static void expect_division(const char *body, const char *division)
{
    char *text = divided(body);
    cr_expect_not_null(strstr(text, division), "%s, not %s", text, division);
    cr_expect_null(strstr(text, "mul"), "%s", text);
    free(text);
}

static void expect_none(const char *body)
{
    char *text = divided(body);
    cr_expect_null(strstr(text, "div"), "%s", text);
    free(text);
}

static const uint64_t divisors[] = {3,   5,    6,    7,     9,       10,        11,  25,
                                    27,  55,   60,   64,    96,      100,       125, 255,
                                    641, 1000, 3025, 65537, 1000003, 2147483647};
#define DIVISORS (sizeof divisors / sizeof *divisors)

/* Signed: the upper half, perhaps with the dividend, shifted, and rounded towards 0. */
static void write_signed(char *body, size_t size, struct inverse inverse)
{
    bool is_long = inverse.factor > INT32_MAX;
    int64_t factor = (int64_t)inverse.factor - (is_long ? INT64_C(1) << 32 : 0);
    snprintf(body, size,
             "  %%w = sext i32 %%x to i64\n"
             "  %%p = mul nsw i64 %%w, %lld\n"
             "  %%h = lshr i64 %%p, 32\n"
             "  %%t = trunc nuw i64 %%h to i32\n"
             "  %%u = add i32 %%t, %s\n"
             "  %%a = ashr i32 %%u, %u\n"
             "  %%s = lshr i32 %%u, 31\n"
             "  %%q = add nsw i32 %%a, %%s\n",
             (long long)factor, is_long ? "%x" : "0", inverse.shift - 32);
    char *add = strstr(body, "  %u = add i32 %t, 0\n");
    if (add == NULL)
        return;
    /* There is no sum. */
    memmove(add, add + strlen("  %u = add i32 %t, 0\n"),
            strlen(add + strlen("  %u = add i32 %t, 0\n")) + 1);
    for (char *u = strstr(body, "%u"); u != NULL; u = strstr(body, "%u"))
        u[1] = 't';
}

Test(constant_quotients, signed_products)
{
    for (size_t i = 0; i < DIVISORS; i++) {
        char body[512], division[64];
        struct inverse inverse = inverse_of(divisors[i], 31);
        /* By powers of two nobody multiplies. */
        if ((divisors[i] & (divisors[i] - 1)) == 0)
            continue;
        write_signed(body, sizeof body, inverse);
        snprintf(division, sizeof division, "sdiv i32 %%x, %llu", (unsigned long long)divisors[i]);
        expect_division(body, division);
    }
}

static void write_unsigned(char *body, size_t size, struct inverse inverse, const char *wide)
{
    snprintf(body, size,
             "  %%w = zext %s i32 %%x to i64\n"
             "  %%p = mul i64 %%w, %llu\n"
             "  %%h = lshr i64 %%p, %u\n"
             "  %%q = trunc i64 %%h to i32\n",
             wide, (unsigned long long)inverse.factor, inverse.shift);
}

/* Factors of 33 bits are written otherwise. */
Test(constant_quotients, unsigned_products)
{
    for (size_t i = 0; i < DIVISORS; i++)
        for (unsigned bits = 31; bits <= 32; bits++) {
            char body[512], division[64];
            struct inverse inverse = inverse_of(divisors[i], bits);
            write_unsigned(body, sizeof body, inverse, bits == 31 ? "nneg" : "");
            snprintf(division, sizeof division, "udiv i32 %%x, %llu",
                     (unsigned long long)divisors[i]);
            if (inverse.factor <= UINT32_MAX)
                expect_division(body, division);
        }
}

/* A factor that is a little too small, or too large, is wrong for some dividends. */
Test(constant_quotients, other_products_stay)
{
    char body[512];
    struct inverse inverse = inverse_of(100, 31);
    inverse.factor--;
    write_signed(body, sizeof body, inverse);
    expect_none(body);
    inverse.factor += 40;
    write_signed(body, sizeof body, inverse);
    expect_none(body);
    write_unsigned(body, sizeof body, inverse, "");
    expect_none(body);
}

/* An inverse for 31 bits is not for 32. */
Test(constant_quotients, dividends_of_all_bits)
{
    char body[512];
    struct inverse inverse = inverse_of(7, 31);
    write_unsigned(body, sizeof body, inverse, "nneg");
    expect_division(body, "udiv i32 %x, 7");
    write_unsigned(body, sizeof body, inverse, "");
    expect_none(body);
}

#define TOWARDS_0                                                                                  \
    "  %%s = ashr i32 %%x, 31\n"                                                                   \
    "  %%m = lshr i32 %%s, %u\n"                                                                   \
    "  %%t = add i32 %%x, %%m\n"

Test(constant_quotients, powers_of_two)
{
    char body[512];
    snprintf(body, sizeof body, TOWARDS_0 "  %%q = ashr i32 %%t, %u\n", 25u, 7u);
    expect_division(body, "sdiv i32 %x, 128");
    snprintf(body, sizeof body, TOWARDS_0 "  %%a = and i32 %%t, %d\n  %%q = sub i32 %%x, %%a\n",
             25u, -128);
    expect_division(body, "sdiv i32 %x, 128");
    snprintf(body, sizeof body, TOWARDS_0 "  %%q = ashr i32 %%t, %u\n", 1u, 31u);
    expect_none(body);
    snprintf(body, sizeof body, TOWARDS_0 "  %%q = ashr i32 %%t, %u\n", 25u, 6u);
    expect_none(body);
    snprintf(body, sizeof body, TOWARDS_0 "  %%q = and i32 %%t, %d\n", 25u, -64);
    expect_none(body);
}
