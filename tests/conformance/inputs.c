/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the values; see inputs.h.
 */
#include "tests/conformance/inputs.h"

#include <stdlib.h>
#include <string.h>

/* One lane of a type: f16x2 has two lanes of the 5-10 format. */
struct lane {
    unsigned bits;
    unsigned count;
    unsigned exponent_bits; /* 0: an integer */
    unsigned mantissa_bits;
};

static const struct {
    const char *name;
    unsigned exponent_bits;
    unsigned mantissa_bits;
} formats[] = {
    {"f16", 5, 10}, {"bf16", 8, 7}, {"f32", 8, 23}, {"tf32", 8, 23}, {"f64", 11, 52},
    {"e4m3", 4, 3}, {"e5m2", 5, 2}, {"e2m3", 2, 3}, {"e3m2", 3, 2},  {"e2m1", 2, 1},
};

static struct lane lane_of(enum ptx_type type)
{
    const char *name = ptx_type_table[type].name;
    struct lane lane = {.bits = ptx_type_bits(type), .count = 1};
    const char *times = strchr(name, 'x');
    if (times != NULL && times[1] >= '2' && times[1] <= '8' && times[2] == '\0')
        lane.count = (unsigned)(times[1] - '0');
    size_t len = times != NULL && lane.count > 1 ? (size_t)(times - name) : strlen(name);
    lane.bits /= lane.count;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strlen(formats[i].name) == len && memcmp(formats[i].name, name, len) == 0) {
            lane.exponent_bits = formats[i].exponent_bits;
            lane.mantissa_bits = formats[i].mantissa_bits;
        }
    }
    return lane;
}

unsigned conf_type_bytes(enum ptx_type type)
{
    unsigned bytes = 1;
    while (bytes * 8 < ptx_type_bits(type))
        bytes *= 2;
    return bytes;
}

uint64_t conf_next(struct conf_random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t mask_of(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

struct conf_float conf_float_of(enum ptx_type type)
{
    struct lane lane = lane_of(type);
    return (struct conf_float){
        .bytes = lane.bits / 8,
        .magnitude = mask_of(lane.bits - 1),
        .infinity = mask_of(lane.exponent_bits) << lane.mantissa_bits,
    };
}

/* ---- edges of one lane; the ones that matter most come first ---- */

struct list {
    uint64_t values[CONF_MAX_EDGES];
    size_t count;
    size_t limit;
    uint64_t mask;
};

static void add(struct list *list, uint64_t value)
{
    value &= list->mask;
    if (list->count >= list->limit)
        return;
    size_t recent = list->count < 512 ? list->count : 512;
    for (size_t i = list->count - recent; i < list->count; i++)
        if (list->values[i] == value)
            return;
    list->values[list->count++] = value;
}

static void integer_edges(struct list *list, unsigned bits)
{
    uint64_t top = UINT64_C(1) << (bits - 1);
    const uint64_t first[] = {0,        1,  top,      top - 1, UINT64_MAX, 31, 2,
                              bits,     32, top + 1,  64,      255,        8,  UINT64_MAX - 1,
                              bits - 1, 63, bits + 1, 33,      16,         3,  top + top / 2};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        add(list, first[i]);
    static const unsigned powers[] = {7, 8, 15, 16, 31, 32, 24, 4, 48};
    for (size_t i = 0; i < sizeof powers / sizeof powers[0]; i++) {
        uint64_t power = UINT64_C(1) << powers[i];
        add(list, power);
        add(list, power - 1);
        add(list, 0 - power);
        add(list, ~power);
    }
    add(list, UINT64_C(0x5555555555555555));
    add(list, UINT64_C(0xaaaaaaaaaaaaaaaa));
    add(list, UINT64_C(0x0123456789abcdef));
    add(list, UINT64_C(0xfedcba9876543210));
    for (unsigned i = 0; i < bits; i++) {
        uint64_t power = UINT64_C(1) << i;
        add(list, power);
        add(list, power - 1);
        add(list, power + 1);
        add(list, 0 - power);
        add(list, ~power);
    }
    for (unsigned i = 0; i < 300; i++)
        add(list, i);
}

/* The bits of sign * (1 + fraction / 2^mantissa) * 2^exponent. */
static uint64_t float_bits(const struct lane *lane, int exponent, uint64_t fraction)
{
    int bias = (1 << (lane->exponent_bits - 1)) - 1;
    int biased = exponent + bias;
    int last = (1 << lane->exponent_bits) - 1;
    if (biased < 1)
        return fraction;
    if (biased >= last)
        return ((uint64_t)last << lane->mantissa_bits) - 1;
    return ((uint64_t)biased << lane->mantissa_bits) | (fraction & mask_of(lane->mantissa_bits));
}

static void add_signed(struct list *list, const struct lane *lane, uint64_t value)
{
    add(list, value);
    add(list, value | (UINT64_C(1) << (lane->bits - 1)));
}

static void special_floats(struct list *list, const struct lane *lane)
{
    unsigned m = lane->mantissa_bits;
    uint64_t infinity = mask_of(lane->exponent_bits) << m;
    uint64_t quiet = infinity | (UINT64_C(1) << (m - 1));
    add_signed(list, lane, 0);
    add(list, float_bits(lane, 0, 0));
    add(list, quiet);
    add_signed(list, lane, infinity);
    add(list, infinity | 1); /* signalling, where the format has any */
    add(list, 1);
    add(list, float_bits(lane, 0, 0) | (UINT64_C(1) << (lane->bits - 1)));
    add(list, infinity - 1);
    add(list, (UINT64_C(1) << m) - 1);
    add(list, UINT64_C(1) << m);
    add(list, float_bits(lane, 0, UINT64_C(1) << (m - 1)));
    add_signed(list, lane, 1);
    add_signed(list, lane, infinity - 1);
    add_signed(list, lane, (UINT64_C(1) << m) - 1);
    add_signed(list, lane, UINT64_C(1) << m);
    add_signed(list, lane, (UINT64_C(1) << m) + 1);
    add_signed(list, lane, quiet);
    add_signed(list, lane, mask_of(lane->bits - 1));
    add_signed(list, lane, quiet | 5);
    add_signed(list, lane, infinity | (UINT64_C(1) << (m > 2 ? m - 2 : 0)));
}

static void float_edges(struct list *list, const struct lane *lane)
{
    special_floats(list, lane);
    unsigned m = lane->mantissa_bits;
    uint64_t half = UINT64_C(1) << (m - 1);
    static const int exponents[] = {0,  -1, 1,   2,  7,   8,   15,  16,  31, 32, 63,
                                    64, 23, -14, 24, -24, -25, -30, 126, 10, 52, 12};
    const uint64_t fractions[] = {0, 1, mask_of(m), half, half + 1, half - 1, half >> 1};
    for (size_t f = 0; f < sizeof fractions / sizeof fractions[0]; f++)
        for (size_t i = 0; i < sizeof exponents / sizeof exponents[0]; i++)
            add_signed(list, lane, float_bits(lane, exponents[i], fractions[f]));
    /* n + 0.5 and its neighbours around the limits of integers */
    for (int e = 0; e < 20 && e + 1 < (int)m; e++) {
        uint64_t tie = UINT64_C(1) << ((int)m - 1 - e);
        for (int odd = 0; odd < 2; odd++) {
            uint64_t fraction = tie | (odd ? tie << 1 : 0);
            add_signed(list, lane, float_bits(lane, e, fraction));
            add_signed(list, lane, float_bits(lane, e, fraction + 1));
            add_signed(list, lane, float_bits(lane, e, fraction - 1));
            add_signed(list, lane, float_bits(lane, e, mask_of(m) & ~(tie - 1)));
        }
    }
    int last = 1 << (lane->exponent_bits - 1);
    for (int e = -last - (int)m; e < last; e++)
        for (size_t f = 0; f < sizeof fractions / sizeof fractions[0]; f++) {
            uint64_t value = e <= 1 - last ? fractions[f] >> (1 - last - e < 63 ? 1 - last - e : 63)
                                           : float_bits(lane, e, fractions[f]);
            add_signed(list, lane, value);
        }
}

static size_t edge_limit(unsigned in_count)
{
    static const size_t limits[] = {0, CONF_MAX_EDGES, 44, 14, 7, 5, 4, 3, 2};
    return limits[in_count <= CONF_MAX_INPUTS ? in_count : CONF_MAX_INPUTS];
}

static void lane_edges(struct list *list, const struct lane *lane, size_t limit)
{
    *list = (struct list){.limit = limit, .mask = mask_of(lane->bits)};
    if (lane->bits > 64 || lane->bits < 2)
        for (unsigned i = 0; i < 2; i++)
            add(list, i);
    else if (lane->bits <= 16 && limit >= (size_t)1 << lane->bits)
        for (uint64_t i = 0; i <= mask_of(lane->bits); i++)
            list->values[list->count++] = i;
    else if (lane->exponent_bits != 0)
        float_edges(list, lane);
    else
        integer_edges(list, lane->bits);
}

size_t conf_edges(enum ptx_type type, unsigned in_count, unsigned __int128 *edges)
{
    static struct list list;
    struct lane lane = lane_of(type);
    size_t limit = edge_limit(in_count);
    if (lane.count > 1 && limit > 2000)
        limit = 2000;
    lane_edges(&list, &lane, limit);
    for (size_t i = 0; i < list.count; i++) {
        unsigned __int128 value = list.values[i];
        for (unsigned k = 1; k < lane.count; k++) {
            uint64_t other = list.values[(i * (2 * k + 3) + 5 * k) % list.count];
            value |= (unsigned __int128)other << (k * lane.bits);
        }
        if (lane.bits == 128)
            value |= value << 99;
        edges[i] = value;
    }
    return list.count;
}

/* ---- random values ---- */

static uint64_t random_integer(struct conf_random *random, unsigned bits)
{
    uint64_t value = conf_next(random);
    uint64_t choice = conf_next(random) % 8;
    unsigned shift = (unsigned)(conf_next(random) % bits);
    if (choice < 3)
        return value;
    if (choice == 3)
        return value % 70;
    if (choice == 4)
        return (UINT64_C(1) << shift) + value % 3 - 1;
    if (choice == 5)
        return ~((UINT64_C(1) << shift) + value % 3 - 1);
    if (choice == 6)
        return (value & mask_of(bits)) >> shift;
    return 0 - ((value & mask_of(bits)) >> shift);
}

static uint64_t random_float(struct conf_random *random, const struct lane *lane)
{
    unsigned m = lane->mantissa_bits;
    uint64_t value = conf_next(random);
    uint64_t choice = conf_next(random) % 8;
    uint64_t sign = value & (UINT64_C(1) << (lane->bits - 1));
    uint64_t fraction = (value >> 8) & mask_of(m);
    unsigned tail = (unsigned)(conf_next(random) % (m + 1));
    int bias = (1 << (lane->exponent_bits - 1)) - 1;
    int spread = bias < 40 ? bias : 40;
    int exponent = (int)(conf_next(random) % (unsigned)(2 * spread)) - spread;
    if (choice < 2)
        return value;
    if (choice == 2) /* few leading bits: exact results and ties */
        fraction = (fraction >> tail) << tail;
    else if (choice == 3) /* close below or above a tie */
        fraction = ((fraction >> tail) << tail) + ((UINT64_C(1) << tail) >> 1) + value % 3 - 1;
    else if (choice == 4)
        return sign | (fraction >> (tail < m ? tail : m)); /* subnormal */
    else if (choice == 5)
        exponent = (int)(value % 4) - 2;
    return sign | float_bits(lane, exponent, fraction);
}

static unsigned __int128 random_value(struct conf_random *random, const struct lane *lane)
{
    if (lane->bits > 64)
        return ((unsigned __int128)conf_next(random) << 64) | conf_next(random);
    unsigned __int128 value = 0;
    for (unsigned k = 0; k < lane->count; k++) {
        uint64_t part = lane->exponent_bits != 0 ? random_float(random, lane)
                                                 : random_integer(random, lane->bits);
        value |= (unsigned __int128)(part & mask_of(lane->bits)) << (k * lane->bits);
    }
    return value;
}

/* ---- samples ---- */

static bool grow(struct conf_inputs *inputs, size_t more)
{
    if (inputs->count + more <= inputs->capacity)
        return true;
    size_t capacity = (inputs->count + more) * 2;
    for (unsigned i = 0; i < inputs->in_count; i++) {
        uint8_t *column = realloc(inputs->columns[i], capacity * conf_type_bytes(inputs->types[i]));
        if (column == NULL)
            return false;
        inputs->columns[i] = column;
    }
    inputs->capacity = capacity;
    return true;
}

static void put(struct conf_inputs *inputs, unsigned operand, unsigned __int128 value)
{
    unsigned bytes = conf_type_bytes(inputs->types[operand]);
    if (inputs->types[operand] == PTX_TYPE_PRED)
        value &= 1;
    memcpy(inputs->columns[operand] + inputs->count * bytes, &value, bytes);
}

static bool add_crossed(struct conf_inputs *inputs)
{
    static unsigned __int128 edges[CONF_MAX_INPUTS][CONF_MAX_EDGES];
    size_t counts[CONF_MAX_INPUTS];
    size_t total = 1;
    unsigned bits = 0;
    for (unsigned i = 0; i < inputs->in_count; i++)
        bits += ptx_type_bits(inputs->types[i]);
    for (unsigned i = 0; i < inputs->in_count; i++) {
        /* up to 16 bits together are few enough to take all values */
        unsigned crossed = bits <= 16 ? 1 : inputs->in_count;
        counts[i] = conf_edges(inputs->types[i], crossed, edges[i]);
        total *= counts[i];
    }
    if (!grow(inputs, total))
        return false;
    for (size_t n = 0; n < total; n++) {
        size_t rest = n;
        for (unsigned i = 0; i < inputs->in_count; i++) {
            put(inputs, i, edges[i][rest % counts[i]]);
            rest /= counts[i];
        }
        inputs->count++;
    }
    return true;
}

/* An operand close to another: equal, a neighbour, or of opposite sign. */
static unsigned __int128 near(struct conf_random *random, unsigned __int128 value, unsigned bits)
{
    uint64_t choice = conf_next(random) % 4;
    if (choice == 0)
        return value;
    if (choice == 1)
        return value + 1;
    if (choice == 2)
        return value - 1;
    return value ^ ((unsigned __int128)1 << (bits - 1));
}

/* c = -(a * b) or close to it: distinguishes a fused operation from two. */
static bool cancel_product(struct conf_inputs *inputs, struct conf_random *random,
                           const unsigned __int128 *values)
{
    if (inputs->in_count < 3)
        return false;
    unsigned __int128 result = 0;
    if (inputs->types[0] == PTX_TYPE_F32 && inputs->types[2] == PTX_TYPE_F32) {
        float a, b;
        memcpy(&a, &values[0], sizeof a);
        memcpy(&b, &values[1], sizeof b);
        float c = -(a * b);
        memcpy(&result, &c, sizeof c);
    } else if (inputs->types[0] == PTX_TYPE_F64 && inputs->types[2] == PTX_TYPE_F64) {
        double a, b;
        memcpy(&a, &values[0], sizeof a);
        memcpy(&b, &values[1], sizeof b);
        double c = -(a * b);
        memcpy(&result, &c, sizeof c);
    } else {
        return false;
    }
    put(inputs, 2, near(random, result, ptx_type_bits(inputs->types[2])));
    return true;
}

static bool add_random(struct conf_inputs *inputs, size_t count)
{
    struct conf_random random = {UINT64_C(0x5eed)};
    if (!grow(inputs, count))
        return false;
    inputs->random_count = count;
    for (size_t n = 0; n < count; n++) {
        unsigned __int128 values[CONF_MAX_INPUTS];
        uint64_t relation = conf_next(&random) % 8;
        for (unsigned i = 0; i < inputs->in_count; i++) {
            struct lane lane = lane_of(inputs->types[i]);
            values[i] = random_value(&random, &lane);
            if (relation < 2 && i > 0 && inputs->types[i] == inputs->types[i - 1])
                values[i] = near(&random, values[i - 1], ptx_type_bits(inputs->types[i]));
            put(inputs, i, values[i]);
        }
        if (relation == 2)
            cancel_product(inputs, &random, values);
        inputs->count++;
    }
    return true;
}

#define NEAR_TIES 256

/* One lane of a * b + c, which is next to what lies halfway between two numbers, by less than what
 * twice the bits have room for: the product is half a place of c but for 2^-2k of it, or halfway
 * itself, and c is far below. Rounded twice, it is a tie. */
static void near_tie(struct conf_random *random, const struct lane *lane, uint64_t parts[3])
{
    unsigned m = lane->mantissa_bits;
    int bias = (1 << (lane->exponent_bits - 1)) - 1;
    uint64_t bits = conf_next(random);
    uint64_t fraction = bits >> 8 & mask_of(m);
    unsigned k = m / 2 + (unsigned)(bits & 0xff) % (m - m / 2) + 1;
    int least = (int)m + 2 - bias;
    int exponent = least + (int)(conf_next(random) % (unsigned)(bias - least));
    if (conf_next(random) % 2 == 0) {
        parts[0] = float_bits(lane, exponent - (int)m - 1, UINT64_C(1) << (m - k));
        parts[1] = float_bits(lane, -1, mask_of(k - 1) << (m - k + 1));
        parts[2] = float_bits(lane, exponent, fraction);
    } else {
        parts[0] = float_bits(lane, exponent, (fraction & mask_of(m - 2)) | 1);
        parts[1] = float_bits(lane, 0, UINT64_C(1) << (m - 1));
        parts[2] = float_bits(lane, exponent - (int)(m + k), fraction);
    }
    uint64_t signs = conf_next(random);
    for (unsigned i = 0; i < 3; i++)
        parts[i] |= (signs >> i & 1) << (lane->bits - 1);
}

bool conf_inputs_add_near_ties(struct conf_inputs *inputs)
{
    struct conf_random random = {UINT64_C(0x71e5)};
    struct lane lane = lane_of(inputs->types[0]);
    if (inputs->in_count < 3 || lane.exponent_bits == 0 || lane.mantissa_bits < 4 ||
        inputs->types[1] != inputs->types[0] || inputs->types[2] != inputs->types[0])
        return true;
    if (!grow(inputs, NEAR_TIES))
        return false;
    inputs->random_count += NEAR_TIES;
    for (unsigned n = 0; n < NEAR_TIES; n++) {
        unsigned __int128 values[3] = {0};
        for (unsigned l = 0; l < lane.count; l++) {
            uint64_t parts[3];
            near_tie(&random, &lane, parts);
            for (unsigned i = 0; i < 3; i++)
                values[i] |= (unsigned __int128)parts[i] << (l * lane.bits);
        }
        for (unsigned i = 0; i < inputs->in_count; i++)
            put(inputs, i, i < 3 ? values[i] : 0);
        inputs->count++;
    }
    return true;
}

bool conf_inputs_make(struct conf_inputs *inputs, const enum ptx_type *types, unsigned in_count,
                      size_t random_count)
{
    *inputs = (struct conf_inputs){.in_count = in_count};
    unsigned bits = 0;
    for (unsigned i = 0; i < in_count; i++) {
        inputs->types[i] = types[i];
        bits += ptx_type_bits(types[i]);
    }
    if (in_count == 0) {
        inputs->count = 1;
        return true;
    }
    /* predicates come as bytes 0 and 1 */
    return add_crossed(inputs) && (bits <= 16 || add_random(inputs, random_count));
}

/* The first ones are edges, which tell most: half of what is chosen is from the first thousand. */
#define EDGES 1000

void conf_inputs_choose(struct conf_inputs *inputs, size_t count)
{
    struct conf_random random = {UINT64_C(0xc405e)};
    if (count >= inputs->count)
        return;
    for (size_t n = 0; n < count; n++) {
        size_t range = n % 2 == 0 && inputs->count > EDGES ? EDGES : inputs->count;
        size_t from = n + conf_next(&random) % (range > n ? range - n : inputs->count - n);
        for (unsigned i = 0; i < inputs->in_count; i++) {
            unsigned bytes = conf_type_bytes(inputs->types[i]);
            uint8_t kept[16];
            memcpy(kept, inputs->columns[i] + n * bytes, bytes);
            memcpy(inputs->columns[i] + n * bytes, inputs->columns[i] + from * bytes, bytes);
            memcpy(inputs->columns[i] + from * bytes, kept, bytes);
        }
    }
    inputs->count = count;
}

void conf_inputs_free(struct conf_inputs *inputs)
{
    for (unsigned i = 0; i < inputs->in_count; i++)
        free(inputs->columns[i]);
    *inputs = (struct conf_inputs){0};
}
