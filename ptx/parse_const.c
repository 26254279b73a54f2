/* SPDX-License-Identifier: Apache-2.0
 *
 * Literals and constant expressions (PTX ISA, "Constants"). Integers are 64 bits wide, signed
 * unless the literal says U or is too large; floating-point values are double, except single
 * literals (0f…) that stand alone.
 */
#include "ptx/parse.h"

static double double_of(uint64_t bits)
{
    double number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

static uint64_t bits_of(double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

bool ptx_const_to_double(const struct ptx_const *value, double *number)
{
    if (!value->is_float) {
        *number = value->is_unsigned ? (double)value->bits : (double)(int64_t)value->bits;
        return false;
    }
    if (value->is_single) {
        uint32_t low = (uint32_t)value->bits;
        float single;

        memcpy(&single, &low, sizeof(single));
        *number = (double)single;
    } else {
        *number = double_of(value->bits);
    }
    return true;
}

static struct ptx_const make_int(uint64_t bits, bool is_unsigned)
{
    return (struct ptx_const){.bits = bits, .is_unsigned = is_unsigned};
}

static struct ptx_const make_double(double number)
{
    return (struct ptx_const){.is_float = true, .bits = bits_of(number)};
}

/* ---- literals ---- */

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

/* false: a digit that is not of the base, or more than 64 bits */
static bool read_digits(struct pxr_str digits, unsigned base, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < digits.len; i++) {
        unsigned digit = (unsigned)digit_value(digits.ptr[i]);

        if (digit >= base || *value > (UINT64_MAX - digit) / base)
            return false;
        *value = *value * base + digit;
    }
    return digits.len > 0;
}

/* 0[fF] with 8 hex digits, 0[dD] with 16: the bits of a single or double */
static bool read_hex_float(struct pxr_str text, struct ptx_const *value)
{
    bool is_single = text.ptr[1] == 'f' || text.ptr[1] == 'F';
    struct pxr_str digits = {text.ptr + 2, text.len - 2};

    *value = (struct ptx_const){.is_float = true, .is_single = is_single};
    return digits.len == (is_single ? 8 : 16) && read_digits(digits, 16, &value->bits);
}

/* digits "." digits ([eE] [+-]? digits)? ; ends exactly at the token's end */
static bool read_decimal_float(struct pxr_str text, struct ptx_const *value)
{
    char copy[128];
    char *end;

    if (text.len >= sizeof(copy))
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    *value = make_double(strtod(copy, &end));
    return end == copy + text.len;
}

/* hex 0x…, octal 0…, binary 0b…, decimal; U marks unsigned */
static bool read_int(struct pxr_str text, struct ptx_const *value)
{
    unsigned base = 10;
    uint64_t bits;
    bool is_unsigned = text.ptr[text.len - 1] == 'U' || text.ptr[text.len - 1] == 'u';

    text.len -= is_unsigned;
    if (text.len > 2 && text.ptr[0] == '0' && (text.ptr[1] | 32) == 'x') {
        base = 16;
        text = (struct pxr_str){text.ptr + 2, text.len - 2};
    } else if (text.len > 2 && text.ptr[0] == '0' && (text.ptr[1] | 32) == 'b') {
        base = 2;
        text = (struct pxr_str){text.ptr + 2, text.len - 2};
    } else if (text.len > 1 && text.ptr[0] == '0') {
        base = 8;
    }
    if (!read_digits(text, base, &bits))
        return false;
    /* "Integer Constants": signed unless that would overflow, then unsigned */
    *value = make_int(bits, is_unsigned || bits > INT64_MAX);
    return true;
}

static bool read_number(struct pxr_str text, struct ptx_const *value)
{
    bool is_hex = text.len > 1 && text.ptr[0] == '0' && (text.ptr[1] | 32) == 'x';

    if (text.len > 2 && text.ptr[0] == '0' && strchr("fFdD", text.ptr[1]))
        return read_hex_float(text, value);
    if (!is_hex)
        for (size_t i = 0; i < text.len; i++)
            if (text.ptr[i] == '.' || (text.ptr[i] | 32) == 'e')
                return read_decimal_float(text, value);
    return read_int(text, value);
}

/* ---- expressions ---- */

bool ptx_at_const(const struct ptx_parser *p)
{
    return p->tok.kind == PTX_TOKEN_NUMBER ||
           (p->tok.kind == PTX_TOKEN_PUNCT && strchr("-+~!(", p->tok.text.ptr[0])) ||
           (p->tok.kind == PTX_TOKEN_NAME && pxr_str_is(p->tok.text, "WARP_SZ"));
}

/* "(" ".s64" ")" and "(" ".u64" ")" are casts; any other "(" begins an expression */
static bool parse_parenthesis(struct ptx_parser *p, struct ptx_const *value)
{
    bool is_unsigned = ptx_token_is_dot(&p->tok, ".u64");

    if (is_unsigned || ptx_token_is_dot(&p->tok, ".s64")) {
        ptx_advance(p);
        if (!ptx_expect(p, ')') || !ptx_parse_const_term(p, value))
            return false;
        if (value->is_float)
            return ptx_fail_expected(p, "an integer behind the cast");
        value->is_unsigned = is_unsigned;
        return true;
    }
    return ptx_parse_const(p, value) && ptx_expect(p, ')');
}

static bool apply_unary(struct ptx_parser *p, char op, struct ptx_const *value)
{
    if (op == '!' && !value->is_float) {
        *value = make_int(value->bits == 0, false);
        return true;
    }
    if (op == '~' && !value->is_float) { /* unsigned, whatever the operand is */
        *value = make_int(~value->bits, true);
        return true;
    }
    if (op == '~' || op == '!')
        return ptx_fail_expected(p, "an integer behind the operator");
    if (op == '-' && value->is_float)
        value->bits ^= value->is_single ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    else if (op == '-')
        value->bits = 0 - value->bits;
    return true;
}

/* term = ("+" | "-" | "!" | "~") term | "(" expression ")" | number | "WARP_SZ" */
bool ptx_parse_const_term(struct ptx_parser *p, struct ptx_const *value)
{
    struct ptx_token token = p->tok;
    bool is_ok;

    if (++p->expression_depth > PTX_MAX_EXPRESSION_DEPTH)
        return ptx_fail_at(p, &token, "constant expression is nested too deeply");
    if (token.kind == PTX_TOKEN_PUNCT && strchr("+-!~", token.text.ptr[0])) {
        ptx_advance(p);
        is_ok = ptx_parse_const_term(p, value) && apply_unary(p, token.text.ptr[0], value);
    } else if (ptx_accept(p, '(')) {
        is_ok = parse_parenthesis(p, value);
    } else if (token.kind == PTX_TOKEN_NAME && pxr_str_is(token.text, "WARP_SZ")) {
        *value = make_int(32, false);
        ptx_advance(p);
        is_ok = true;
    } else if (token.kind == PTX_TOKEN_NUMBER) {
        if (!read_number(token.text, value))
            return ptx_fail_at(p, &token, "'%.*s' is not a number", PXR_STR_ARG(token.text));
        ptx_advance(p);
        is_ok = true;
    } else {
        return ptx_fail_expected(p, "a constant");
    }
    p->expression_depth--;
    return is_ok;
}

enum operation {
    OP_NONE,
    OP_MUL,
    OP_DIV,
    OP_REM,
    OP_ADD,
    OP_SUB,
    OP_SHL,
    OP_SHR,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_EQ,
    OP_NE,
    OP_AND,
    OP_XOR,
    OP_OR,
    OP_LOGICAL_AND,
    OP_LOGICAL_OR
};

static const struct {
    const char *text;
    int precedence;
    enum operation op;
} operators[] = {
    /* the longer spelling first */
    {"<<", 8, OP_SHL}, {">>", 8, OP_SHR}, {"<=", 7, OP_LE},          {">=", 7, OP_GE},
    {"==", 6, OP_EQ},  {"!=", 6, OP_NE},  {"&&", 2, OP_LOGICAL_AND}, {"||", 1, OP_LOGICAL_OR},
    {"*", 10, OP_MUL}, {"/", 10, OP_DIV}, {"+", 9, OP_ADD},          {"-", 9, OP_SUB},
    {"<", 7, OP_LT},   {">", 7, OP_GT},   {"&", 5, OP_AND},          {"^", 4, OP_XOR},
    {"|", 3, OP_OR},
};

/* The operator at the current token. "%" begins names, so that alone it is a name of one
 * character rather than punctuation. */
static enum operation peek_operator(const struct ptx_parser *p, int *precedence, size_t *len)
{
    if (p->tok.kind == PTX_TOKEN_NAME && pxr_str_is(p->tok.text, "%")) {
        *precedence = 10;
        *len = 1;
        return OP_REM;
    }
    if (p->tok.kind != PTX_TOKEN_PUNCT || strchr(",;})]", p->tok.text.ptr[0]))
        return OP_NONE; /* nearly always */
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        size_t n = strlen(operators[i].text);

        if (strncmp(p->tok.text.ptr, operators[i].text, n) == 0) {
            *precedence = operators[i].precedence;
            *len = n;
            return operators[i].op;
        }
    }
    return OP_NONE;
}

/* Result of a comparison, or -1 for any other operator. */
static int compare(enum operation op, bool is_less, bool is_equal, bool is_greater)
{
    switch (op) {
    case OP_LT:
        return is_less;
    case OP_LE:
        return is_less || is_equal;
    case OP_GT:
        return is_greater;
    case OP_GE:
        return is_greater || is_equal;
    case OP_EQ:
        return is_equal;
    case OP_NE:
        return !is_equal;
    default:
        return -1;
    }
}

static bool apply_float(enum operation op, double a, double b, struct ptx_const *result)
{
    int truth = compare(op, a<b, a == b, a> b);

    if (truth >= 0) {
        *result = make_int((uint64_t)truth, false);
        return true;
    }
    switch (op) {
    case OP_MUL:
        *result = make_double(a * b);
        return true;
    case OP_DIV:
        *result = make_double(a / b);
        return true;
    case OP_ADD:
        *result = make_double(a + b);
        return true;
    case OP_SUB:
        *result = make_double(a - b);
        return true;
    default:
        return false;
    }
}

static uint64_t divide(uint64_t a, uint64_t b, bool is_unsigned)
{
    if (is_unsigned)
        return a / b;
    return (int64_t)b == -1 ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static bool is_less(uint64_t a, uint64_t b, bool is_unsigned)
{
    return is_unsigned ? a < b : (int64_t)a < (int64_t)b;
}

/* The manual does not define a shift by 64 or more; ptxas takes the distance modulo 64. */
static uint64_t shift(enum operation op, uint64_t a, uint64_t b, bool is_unsigned)
{
    b &= 63;
    if (op == OP_SHL)
        return a << b;
    return is_unsigned ? a >> b : (uint64_t)((int64_t)a >> b);
}

/* The operators whose result is no truth value; false: undefined. */
static bool apply_arithmetic(enum operation op, uint64_t a, uint64_t b, bool is_unsigned,
                             uint64_t *result)
{
    switch (op) {
    case OP_MUL:
        *result = a * b;
        return true;
    case OP_ADD:
        *result = a + b;
        return true;
    case OP_SUB:
        *result = a - b;
        return true;
    case OP_AND:
        *result = a & b;
        return true;
    case OP_XOR:
        *result = a ^ b;
        return true;
    case OP_OR:
        *result = a | b;
        return true;
    case OP_DIV:
        if (b != 0)
            *result = divide(a, b, is_unsigned);
        return b != 0;
    case OP_REM:
        if (b != 0)
            *result = a % b;
        return b != 0;
    default:
        return false;
    }
}

/* "Integer Constant Expression Evaluation": arithmetic is unsigned if either side is; comparisons
 * and logical operators give signed 0 or 1; shifts keep the type of the left side; a remainder is
 * of unsigned operands. (A table there says that its result is signed; ptxas goes on unsigned.) */
static bool apply_int(enum operation op, struct ptx_const a, struct ptx_const b,
                      struct ptx_const *result)
{
    bool is_unsigned = a.is_unsigned || b.is_unsigned;
    int truth = compare(op, is_less(a.bits, b.bits, is_unsigned), a.bits == b.bits,
                        is_less(b.bits, a.bits, is_unsigned));

    if (op == OP_LOGICAL_AND)
        truth = a.bits && b.bits;
    if (op == OP_LOGICAL_OR)
        truth = a.bits || b.bits;
    if (truth >= 0)
        *result = make_int((uint64_t)truth, false);
    else if (op == OP_SHL || op == OP_SHR)
        *result = make_int(shift(op, a.bits, b.bits, a.is_unsigned), a.is_unsigned);
    else
        *result = make_int(0, is_unsigned || op == OP_REM);
    return truth >= 0 || op == OP_SHL || op == OP_SHR ||
           apply_arithmetic(op, a.bits, b.bits, is_unsigned, &result->bits);
}

static bool apply_binary(struct ptx_parser *p, const struct ptx_token *token, enum operation op,
                         struct ptx_const *left, struct ptx_const right)
{
    if (left->is_float || right.is_float) {
        double a;
        double b;

        ptx_const_to_double(left, &a);
        ptx_const_to_double(&right, &b);
        if (apply_float(op, a, b, left))
            return true;
    } else if (apply_int(op, *left, right, left)) {
        return true;
    }
    return ptx_fail_at(p, token, "the constant expression cannot be evaluated");
}

/* binary(n) = term (operator of at least n binary(n + 1))* */
static bool parse_binary(struct ptx_parser *p, int min_precedence, struct ptx_const *left)
{
    if (!ptx_parse_const_term(p, left))
        return false;
    for (;;) {
        struct ptx_token token = p->tok;
        struct ptx_const right;
        int precedence = 0;
        size_t len = 0;
        enum operation op = peek_operator(p, &precedence, &len);

        if (op == OP_NONE || precedence < min_precedence)
            return true;
        for (size_t i = 0; i < len; i++)
            ptx_advance(p);
        if (!parse_binary(p, precedence + 1, &right) || !apply_binary(p, &token, op, left, right))
            return false;
    }
}

/* conditional = binary ("?" conditional ":" conditional)? */
bool ptx_parse_const(struct ptx_parser *p, struct ptx_const *value)
{
    struct ptx_const if_true;
    struct ptx_const if_false;
    bool is_unsigned;

    if (!parse_binary(p, 1, value))
        return false;
    if (!ptx_token_is(&p->tok, '?'))
        return true;
    if (++p->expression_depth > PTX_MAX_EXPRESSION_DEPTH)
        return ptx_fail_at(p, &p->tok, "constant expression is nested too deeply");
    ptx_advance(p);
    if (!ptx_parse_const(p, &if_true) || !ptx_expect(p, ':') || !ptx_parse_const(p, &if_false))
        return false;
    p->expression_depth--;
    is_unsigned = if_true.is_unsigned || if_false.is_unsigned;
    *value = value->bits ? if_true : if_false;
    value->is_unsigned = is_unsigned && !value->is_float;
    return true;
}

bool ptx_parse_const_uint(struct ptx_parser *p, const char *what, uint64_t max, uint64_t *value)
{
    struct ptx_token token = p->tok;
    struct ptx_const number;

    if (!ptx_at_const(p))
        return ptx_fail_expected(p, what);
    /* one term: numbers stand side by side in .loc, and ">" closes a register range */
    if (!ptx_parse_const_term(p, &number))
        return false;
    if (number.is_float || number.bits > max)
        return ptx_fail_at(p, &token, "%s must be a whole number up to %llu", what,
                           (unsigned long long)max);
    *value = number.bits;
    return true;
}
