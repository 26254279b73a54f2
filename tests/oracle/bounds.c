/* SPDX-License-Identifier: Apache-2.0
 *
 * The room that the manual leaves (PTX ISA, Notes of each instruction), as
 * tables, and the judge that consults them. Packed results are judged element
 * by element.
 */
#include "tests/oracle/bounds.h"

#include <math.h>
#include <string.h>

#include "tests/oracle/scalar.h"
#include "tests/oracle/softfloat.h"

#define SOURCES 4

/* One element of an instruction's operands and results. */
struct lane {
    const struct ptx_inst *inst;
    const char *emitter;
    enum ptx_type type; /* of the result's element */
    const struct oracle_format *format;
    union oracle_value whole[SOURCES]; /* sources as they are */
    uint64_t in[SOURCES];              /* flushed, when the instruction says .ftz */
    unsigned in_count;
    uint64_t want;
    uint64_t got;
};

static bool is_ftz(const struct lane *lane)
{
    return ptx_inst_has(lane->inst, PTX_GROUP_FTZ);
}

/* ---- inputs whose results are unspecified ---- */

static bool is_beyond_100_pi(const struct lane *lane)
{
    float a;
    uint32_t bits = (uint32_t)lane->in[0];

    memcpy(&a, &bits, sizeof(a));
    return isfinite(a) && fabs((double)a) > 100 * M_PI;
}

static bool divisor_is_subnormal(const struct lane *lane)
{
    return ptx_inst_mod(lane->inst, PTX_GROUP_APPROX) == PTX_MOD_APPROX &&
           oracle_is_subnormal(lane->format, lane->in[1]);
}

/* A result that is flushed although rounding makes it the smallest normal number: that number. */
static bool is_rounded_to_normal(const struct lane *lane)
{
    struct ptx_inst inst = *lane->inst;
    struct oracle_scalar scalar = {.in_count = lane->in_count};
    bool is_cvt = strcmp(lane->emitter, "cvt") == 0;
    int64_t smallest_normal = INT64_C(1) << lane->format->fraction_bits;
    int64_t rank = oracle_rank(lane->format, lane->got);

    if (!is_ftz(lane) || !oracle_is_zero(lane->format, lane->want) ||
        (rank != smallest_normal && rank != -smallest_normal))
        return false;
    inst.groups &= ~PTX_GROUP_BIT(PTX_GROUP_FTZ);
    for (unsigned i = 0; i < lane->in_count; i++)
        scalar.in[i].u64 = is_cvt ? lane->whole[i].u64 : lane->in[i];
    return oracle_evaluate(&inst, &scalar) == PXR_OK &&
           oracle_lane(scalar.out, 0, oracle_lane_bits(inst.types[0])) == lane->got;
}

static bool is_random_subnormal(const struct lane *lane)
{
    int64_t difference =
        oracle_rank(lane->format, lane->got) - oracle_rank(lane->format, lane->want);

    return ptx_inst_mod(lane->inst, PTX_GROUP_ROUND) == PTX_MOD_RS &&
           (oracle_is_subnormal(lane->format, lane->want) ||
            oracle_is_zero(lane->format, lane->want)) &&
           difference >= -1 && difference <= 1;
}

/* Without .satfinite or of what has no counterpart; of sources only f32 and
 * bf16x2 occur. */
static bool has_no_exponent(const struct lane *lane)
{
    enum ptx_type source = lane->inst->types[1];
    const struct oracle_format *format = oracle_format(source);

    for (unsigned i = 0; lane->inst->types[0] == PTX_TYPE_UE8M0X2 && i < lane->in_count; i++) {
        for (unsigned n = 0; n < oracle_lane_count(source); n++) {
            uint64_t bits = oracle_lane(lane->whole[i], n, oracle_lane_bits(source));

            if (oracle_is_zero(format, bits) || (bits & oracle_sign_bit(format)) != 0 ||
                oracle_is_subnormal(format, bits) || bits == oracle_infinity(format))
                return true;
        }
    }
    return false;
}

/* A rule that looks at the result as well allows only the results that it
 * names. */
struct freedom {
    const char *emitter;
    bool (*applies)(const struct lane *lane);
    const char *why;
};

#define WHEN_FLUSHED ".ftz: whether a result that only rounding makes normal is flushed"

static const struct freedom freedoms[] = {
    {"add_float", is_rounded_to_normal, WHEN_FLUSHED},
    {"sub_float", is_rounded_to_normal, WHEN_FLUSHED},
    {"mul_float", is_rounded_to_normal, WHEN_FLUSHED},
    {"fma", is_rounded_to_normal, WHEN_FLUSHED},
    {"div_float", is_rounded_to_normal, WHEN_FLUSHED},
    {"rcp", is_rounded_to_normal, WHEN_FLUSHED},
    {"cvt", is_rounded_to_normal, WHEN_FLUSHED},
    {"cvt", is_random_subnormal, "cvt.rs: how random bits meet a subnormal result is not said"},
    {"cvt", has_no_exponent, "cvt.ue8m0x2: results of zero, subnormal, negative, infinite inputs"},
    {"sin", is_beyond_100_pi, "sin: \"There are no defined error guarantees.\""},
    {"cos", is_beyond_100_pi, "cos: \"There are no defined error guarantees.\""},
    {"div_approx", divisor_is_subnormal, "div.approx: the bound is for |b| in [2^-126, 2^126]"},
};

static const char *find_freedom(const struct lane *lane)
{
    for (unsigned i = 0; i < sizeof(freedoms) / sizeof(freedoms[0]); i++) {
        const struct freedom *freedom = &freedoms[i];

        if (strcmp(freedom->emitter, lane->emitter) == 0 && freedom->applies(lane))
            return freedom->why;
    }
    return NULL;
}

/* ---- NaN ---- */

/* Instructions that hand bits on: a NaN is no value to them. */
static const char *const bitwise_emitters[] = {"selp", "slct", "copysign"};

/* "Single-precision instructions return an unspecified NaN"; for double
 * precision payloads "are supported" without a rule for two of them. The oracle
 * gives the NaN that sm_90 gives, but accepts any: to make others of the host's
 * would cost time at every instruction. Named as canonical: the results of
 * min.NaN, max.NaN, of .relu, and of the two instructions on the upper word of
 * an f64. */
static bool is_nan_canonical(const struct lane *lane)
{
    bool is_upper_word =
        (strcmp(lane->emitter, "rcp_approx") == 0 || strcmp(lane->emitter, "rsqrt") == 0) &&
        lane->type == PTX_TYPE_F64 && is_ftz(lane);

    return ptx_inst_has(lane->inst, PTX_GROUP_NAN) || ptx_inst_has(lane->inst, PTX_GROUP_RELU) ||
           is_upper_word;
}

static bool is_same(const struct lane *lane)
{
    if (lane->want == lane->got)
        return true;
    if (lane->format->bits == 0 || is_nan_canonical(lane))
        return false;
    for (unsigned i = 0; i < sizeof(bitwise_emitters) / sizeof(bitwise_emitters[0]); i++) {
        if (strcmp(bitwise_emitters[i], lane->emitter) == 0)
            return false;
    }
    return oracle_is_nan(lane->format, lane->want) && oracle_is_nan(lane->format, lane->got);
}

/* ---- bounds ---- */

enum bound_kind {
    BOUND_ULP,         /* from the exact value */
    BOUND_ULP_ROUNDED, /* from the correctly rounded value */
    BOUND_ABSOLUTE,
    BOUND_RELATIVE
};

struct bound {
    const char *emitter;
    enum ptx_type type;
    enum bound_kind kind;
    double limit; /* units in the last place, or the binary logarithm of an error */
    double above; /* for inputs of more than … */
    double below; /* … and less than this magnitude; the first row that fits
                     counts */
};

/* "2-20.5" and the like of the manual are powers of two. Rows for which it has no bound are marked:
 * they have the bound that other implementations of the function keep. */
static const struct bound bounds[] = {
    {"div_approx", PTX_TYPE_F32, BOUND_ULP, 2, 0, INFINITY},
    {"rcp_approx", PTX_TYPE_F32, BOUND_ULP, 1, 0, INFINITY},
    {"rcp_approx", PTX_TYPE_F64, BOUND_ULP, 2, 0, INFINITY}, /* ours; of the 20-bit fraction */
    {"sqrt_approx", PTX_TYPE_F32, BOUND_RELATIVE, -23, 0, INFINITY},
    {"rsqrt", PTX_TYPE_F32, BOUND_RELATIVE, -22.9, 0, INFINITY},
    {"rsqrt", PTX_TYPE_F64, BOUND_ULP, 2, 0, INFINITY}, /* ours */
    {"sin", PTX_TYPE_F32, BOUND_ABSOLUTE, -20.5, 0, 2 * M_PI},
    {"sin", PTX_TYPE_F32, BOUND_ABSOLUTE, -14.7, 0, INFINITY},
    {"cos", PTX_TYPE_F32, BOUND_ABSOLUTE, -20.5, 0, 2 * M_PI},
    {"cos", PTX_TYPE_F32, BOUND_ABSOLUTE, -14.7, 0, INFINITY},
    {"lg2", PTX_TYPE_F32, BOUND_ABSOLUTE, -22, 0.5, 2},
    {"lg2", PTX_TYPE_F32, BOUND_RELATIVE, -22, 0, INFINITY},
    {"ex2", PTX_TYPE_F32, BOUND_ULP_ROUNDED, 2, 0, INFINITY},
    {"ex2", PTX_TYPE_F16, BOUND_RELATIVE, -9.9, 0, INFINITY},
    {"ex2", PTX_TYPE_BF16, BOUND_RELATIVE, -7, 0, INFINITY},
    {"tanh", PTX_TYPE_F32, BOUND_RELATIVE, -11, 0, INFINITY},
    {"tanh", PTX_TYPE_F16, BOUND_ABSOLUTE, -10.987, 0, INFINITY},
    /* the manual has -8, which sm_90 exceeds by 0.01 % for inputs near 0.75 */
    {"tanh", PTX_TYPE_BF16, BOUND_ABSOLUTE, -7.999, 0, INFINITY},
};

/* The function of rows of ULP and APPROX fidelity; -1: a quotient, -2: a reciprocal, -3: a root. */
static int function_of(const char *emitter)
{
    static const struct {
        const char *emitter;
        int function;
    } functions[] = {
        {"div_approx", -1},    {"rcp_approx", -2},
        {"sqrt_approx", -3},   {"rsqrt", ORACLE_RECIPROCAL_ROOT},
        {"sin", ORACLE_SINE},  {"cos", ORACLE_COSINE},
        {"lg2", ORACLE_LOG2},  {"ex2", ORACLE_EXP2},
        {"tanh", ORACLE_TANH},
    };

    for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(functions[i].emitter, emitter) == 0)
            return functions[i].function;
    }
    return -1;
}

static double to_double(const struct oracle_format *format, uint64_t bits)
{
    uint64_t wide = oracle_pack(oracle_format(PTX_TYPE_F64), oracle_unpack(format, bits),
                                ORACLE_ROUND_NEAREST_EVEN);
    double value;

    memcpy(&value, &wide, sizeof(value));
    return value;
}

static struct oracle_number exact_value(const struct lane *lane)
{
    struct oracle_number a = oracle_unpack(lane->format, lane->in[0]);
    int function = function_of(lane->emitter);

    switch (function) {
    case -1:
        return oracle_divide(a, oracle_unpack(lane->format, lane->in[1]));
    case -2:
        return oracle_divide(oracle_from_integer(1, false), a);
    case -3:
        return oracle_square_root(a);
    default:
        return oracle_apply((enum oracle_function)function, a);
    }
}

/* The same within 2^-50, relative. */
static double near_value(const struct lane *lane)
{
    double a = to_double(lane->format, lane->in[0]);
    int function = function_of(lane->emitter);

    switch (function) {
    case -1:
        return a / to_double(lane->format, lane->in[1]);
    case -2:
        return 1 / a;
    case -3:
        return sqrt(a);
    default:
        return oracle_host_function((enum oracle_function)function, a);
    }
}

static const struct bound *find_bound(const struct lane *lane)
{
    double magnitude = fabs(to_double(lane->format, lane->in[0]));

    for (unsigned i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        if (strcmp(bounds[i].emitter, lane->emitter) == 0 && bounds[i].type == lane->type &&
            magnitude > bounds[i].above && magnitude < bounds[i].below)
            return &bounds[i];
    }
    return NULL;
}

/* Exponent of the last place of a format's values of this magnitude. */
static int unit_exponent(const struct oracle_format *format, int log2_floor)
{
    int lowest = 1 - format->bias;

    return (log2_floor < lowest ? lowest : log2_floor) - (int)format->fraction_bits;
}

/* A result as a finite number: infinity counts as the successor of the largest. */
static struct oracle_number as_finite(const struct oracle_format *format, uint64_t bits)
{
    struct oracle_number number = oracle_unpack(format, bits);

    if (number.class == ORACLE_INFINITE) {
        number.class = ORACLE_FINITE;
        number.significand = 1;
        number.exponent = format->bias + 1;
    }
    return number;
}

struct error {
    double seen;
    double allowed;
};

/* The error of a result whose exact value is a finite number, by MPFR. */
static struct error measure(const struct lane *lane, const struct bound *bound)
{
    struct oracle_number exact = exact_value(lane);
    struct oracle_number want = as_finite(lane->format, lane->want);
    struct oracle_number got = as_finite(lane->format, lane->got);
    struct error error = {0, bound->limit};
    int unit =
        unit_exponent(lane->format, want.class == ORACLE_FINITE ? oracle_log2_floor(want) : -9999);

    if (exact.class == ORACLE_FINITE && oracle_log2_floor(exact) > lane->format->bias)
        exact =
            as_finite(lane->format, oracle_infinity(lane->format) |
                                        (exact.is_negative ? oracle_sign_bit(lane->format) : 0));
    switch (bound->kind) {
    case BOUND_ULP:
        error.seen = oracle_distance(got, exact, unit);
        break;
    case BOUND_ULP_ROUNDED:
        error.seen = fabs(
            (double)(oracle_rank(lane->format, lane->got) - oracle_rank(lane->format, lane->want)));
        break;
    case BOUND_ABSOLUTE:
        error.seen = oracle_distance(got, exact, 0);
        error.allowed = exp2(bound->limit);
        break;
    case BOUND_RELATIVE:
        error.allowed = exp2(bound->limit);
        if (exact.class == ORACLE_FINITE) {
            int scale = oracle_log2_floor(exact);
            struct oracle_number zero = {.class = ORACLE_ZERO};

            error.seen = oracle_distance(got, exact, scale) / oracle_distance(exact, zero, scale);
        } else {
            error.seen = got.class == ORACLE_ZERO ? 0 : INFINITY;
        }
        break;
    }
    return error;
}

/* A shorter way for most results: true when `error` is right without MPFR. */
static bool measure_fast(const struct lane *lane, const struct bound *bound, struct error *error)
{
    double exact;
    double got;
    double want;
    double difference;

    error->allowed = bound->limit;
    if (bound->kind == BOUND_ULP_ROUNDED) {
        error->seen = fabs(
            (double)(oracle_rank(lane->format, lane->got) - oracle_rank(lane->format, lane->want)));
        return true;
    }
    exact = near_value(lane);
    got = to_double(lane->format, lane->got);
    want = to_double(lane->format, lane->want);
    difference = fabs(got - exact);
    if (lane->type == PTX_TYPE_F64 || !isfinite(exact) || !isfinite(got) || !isfinite(want) ||
        exact == 0 || want == 0)
        return false;
    if (bound->kind == BOUND_ULP) {
        error->seen = ldexp(difference, -unit_exponent(lane->format, ilogb(want)));
    } else {
        error->allowed = exp2(bound->limit);
        error->seen = bound->kind == BOUND_RELATIVE ? difference / fabs(exact) : difference;
    }
    return error->seen < 0.999 * error->allowed;
}

/* Inputs in the manual's tables of special values: zeros, infinities, NaN.
 * Their results are given, not approximated. */
static bool has_special_source(const struct lane *lane)
{
    for (unsigned i = 0; i < lane->in_count; i++) {
        if (oracle_unpack(lane->format, lane->in[i]).class != ORACLE_FINITE)
            return true;
    }
    return false;
}

/* "flushes subnormal ... results": whether the value is, or within the bound may be, subnormal, so
 * that zero may replace it. */
static bool is_flush_allowed(const struct lane *lane)
{
    int64_t rank = oracle_rank(lane->format, lane->want);
    int64_t smallest_normal = INT64_C(1) << lane->format->fraction_bits;

    return is_ftz(lane) && (rank < 0 ? -rank : rank) <= smallest_normal + 2 &&
           oracle_is_zero(lane->format, lane->got) &&
           ((lane->want ^ lane->got) & oracle_sign_bit(lane->format)) == 0;
}

/* A subnormal result cannot keep a relative bound: one unit in the last place
 * is allowed. */
static bool is_next_to_subnormal(const struct lane *lane)
{
    int64_t difference =
        oracle_rank(lane->format, lane->got) - oracle_rank(lane->format, lane->want);

    return !is_ftz(lane) &&
           (oracle_is_subnormal(lane->format, lane->want) ||
            oracle_is_zero(lane->format, lane->want)) &&
           difference >= -1 && difference <= 1;
}

static enum oracle_verdict judge_bound(const struct lane *lane, struct error *error)
{
    const struct bound *bound = find_bound(lane);
    bool is_absolute;

    if (bound == NULL || has_special_source(lane) || oracle_is_nan(lane->format, lane->want) ||
        oracle_is_nan(lane->format, lane->got))
        return ORACLE_WRONG;
    is_absolute = bound->kind == BOUND_ABSOLUTE;
    if (is_flush_allowed(lane))
        return ORACLE_WITHIN_BOUND;
    if (is_ftz(lane) && oracle_is_subnormal(lane->format, lane->got))
        return ORACLE_WRONG;
    if (!measure_fast(lane, bound, error))
        *error = measure(lane, bound);
    if (!is_absolute && ((lane->want ^ lane->got) & oracle_sign_bit(lane->format)) != 0)
        return ORACLE_WRONG;
    if (error->seen <= error->allowed)
        return ORACLE_WITHIN_BOUND;
    if (bound->kind != BOUND_RELATIVE || !is_next_to_subnormal(lane))
        return ORACLE_WRONG;
    error->seen = error->allowed;
    return ORACLE_WITHIN_BOUND;
}

/* ---- the judge ---- */

/* div.approx of huge divisors: the manual gives the result, a zero or a NaN. */
static bool is_given(const struct lane *lane)
{
    uint64_t divisor = lane->in[1] & 0x7fffffff;

    return strcmp(lane->emitter, "div_approx") == 0 && divisor > 0x7e800000 &&
           ptx_inst_mod(lane->inst, PTX_GROUP_APPROX) == PTX_MOD_APPROX;
}

static enum oracle_verdict judge_lane(const struct lane *lane, struct error *error)
{
    enum ptx_fidelity fidelity = ptx_op_table[lane->inst->op].fidelity;

    if (is_same(lane))
        return ORACLE_SAME;
    if (find_freedom(lane) != NULL)
        return ORACLE_UNSPECIFIED;
    if (fidelity == PTX_FIDELITY_EXACT || lane->format->bits == 0 || is_given(lane))
        return ORACLE_WRONG;
    return judge_bound(lane, error);
}

static struct lane make_lane(const struct ptx_inst *inst, enum ptx_type result, unsigned element,
                             const union oracle_value *in, unsigned in_count)
{
    struct lane lane = {.inst = inst,
                        .emitter = oracle_emitter(inst->op),
                        .type = oracle_lane_type(result),
                        .in_count = in_count < SOURCES ? in_count : SOURCES};

    lane.format = oracle_format(lane.type);
    if (strcmp(lane.emitter, "rcp_approx") == 0 || strcmp(lane.emitter, "rsqrt") == 0) {
        if (lane.type == PTX_TYPE_F64 && is_ftz(&lane))
            lane.format = oracle_upper_f64();
    }
    for (unsigned i = 0; i < lane.in_count; i++) {
        lane.whole[i] = in[i];
        lane.in[i] = oracle_lane(in[i], element, oracle_lane_bits(result));
        if (lane.format->bits != 0 && is_ftz(&lane))
            lane.in[i] = oracle_flush(lane.format, lane.in[i]);
    }
    return lane;
}

enum oracle_verdict oracle_judge(const struct ptx_inst *inst, const union oracle_value *in,
                                 unsigned in_count, union oracle_value want, union oracle_value got,
                                 double *error_seen, double *error_allowed)
{
    enum ptx_type type = oracle_result_type(inst);
    enum oracle_verdict verdict = ORACLE_SAME;
    struct error worst = {0, 0};

    if (type == PTX_TYPE_NONE)
        return want.u128 == got.u128 ? ORACLE_SAME : ORACLE_WRONG;
    for (unsigned i = 0; i < oracle_lane_count(type); i++) {
        unsigned bits = oracle_lane_bits(type);
        struct lane lane = make_lane(inst, type, i, in, in_count);
        struct error error = {0, 0};
        enum oracle_verdict lane_verdict;

        lane.want = oracle_lane(want, i, bits);
        lane.got = oracle_lane(got, i, bits);
        lane_verdict = judge_lane(&lane, &error);
        if (lane_verdict > verdict)
            verdict = lane_verdict;
        if (error.seen >= worst.seen)
            worst = error;
    }
    if (error_seen != NULL)
        *error_seen = worst.seen;
    if (error_allowed != NULL)
        *error_allowed = worst.allowed;
    return verdict;
}

const char *oracle_unspecified(const struct ptx_inst *inst, const union oracle_value *in,
                               unsigned in_count)
{
    enum ptx_type type = oracle_result_type(inst);
    struct oracle_scalar scalar = {.in_count = in_count};
    const char *why = NULL;

    if (type == PTX_TYPE_NONE || in_count > ORACLE_MAX_SOURCES)
        return NULL;
    memcpy(scalar.in, in, in_count * sizeof(in[0]));
    if (oracle_evaluate(inst, &scalar) != PXR_OK)
        return NULL;
    for (unsigned i = 0; why == NULL && i < oracle_lane_count(type); i++) {
        struct lane lane = make_lane(inst, type, i, in, in_count);

        lane.want = oracle_lane(scalar.out, i, oracle_lane_bits(type));
        lane.got = lane.want;
        why = find_freedom(&lane);
    }
    return why;
}
