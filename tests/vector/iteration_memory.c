/* SPDX-License-Identifier: Apache-2.0
 *
 * See iteration_memory.h.
 */
#include "tests/vector/iteration_memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define AROUND 0x5a /* fills the space between an array and the guard page */

enum pxr_status iteration_memory_init(struct iteration_memory *memory,
                                      const struct iteration_case *c, struct pxr_error *err)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *memory = (struct iteration_memory){0};
    for (int i = 0; i < ITERATION_ARRAYS; i++) {
        size_t most = 1;
        for (uint32_t n = 0; n < iteration_case_size_count(c); n++) {
            struct iteration_size size = iteration_case_size(c, n);
            size_t bytes = iteration_array_bytes(&c->arrays[i], &size);
            most = bytes > most ? bytes : most;
        }
        size_t region = (most + page - 1) / page * page;
        uint8_t *all = mmap(NULL, region + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (all == MAP_FAILED || mprotect(all + page, region, PROT_READ | PROT_WRITE) != 0)
            return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for arrays");
        memory->region[i] = all + page;
        memory->region_bytes[i] = region;
    }
    return PXR_OK;
}

void iteration_memory_fini(struct iteration_memory *memory)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < ITERATION_ARRAYS; i++)
        if (memory->region[i] != NULL)
            munmap(memory->region[i] - page, memory->region_bytes[i] + 2 * page);
}

/* ---- contents ---- */

static uint32_t roll(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) ^ (uint32_t)(*state >> 11);
}

/* Small numbers come in stretches of 8, and, in rows of 96, the same ones in all rows: of one
 * number, so that all lanes of a vector decide alike, or of random ones of some kind, so that they
 * decide alike at one branch and not at the next. */
enum stretch { ANY_SMALL = 16, EVEN, ODD, FEW, MANY, SOME };

static const uint32_t stretches[12] = {ANY_SMALL, EVEN, ODD, 3, 0, 5, FEW, MANY, SOME, 12, 9, 15};

static uint32_t small_number(size_t n, uint32_t random)
{
    uint32_t stretch = stretches[n / 8 % 12];
    random = random >> 7 & 15;
    switch (stretch) {
    case ANY_SMALL:
        return random;
    case EVEN:
        return random & 14;
    case ODD:
        return random | 1;
    case FEW:
        return random & 7;
    case MANY:
        return random | 8;
    case SOME:
        return (random & 3) | 4;
    default:
        return stretch;
    }
}

/* One element, number n; how many bytes it has. */
static size_t make_element(enum iteration_fill fill, size_t n, uint64_t *state, uint8_t bytes[8])
{
    uint32_t word = roll(state);
    float single = (float)((int32_t)word >> 8) / 65536.0f;
    double wide = (double)(int32_t)word / 65536.0;
    switch (fill) {
    case ITERATION_FILL_SMALL:
        word = small_number(n, word);
        memcpy(bytes, &word, 4);
        return 4;
    case ITERATION_FILL_F32:
        memcpy(bytes, &single, 4);
        return 4;
    case ITERATION_FILL_F64:
        memcpy(bytes, &wide, 8);
        return 8;
    case ITERATION_FILL_F16: /* 2^-4 to 2^4 */
        word = (word & 0x83ff) | (11 + (word >> 20 & 7)) << 10;
        memcpy(bytes, &word, 2);
        return 2;
    case ITERATION_FILL_ZERO:
        bytes[0] = 0;
        return 1;
    default:
        memcpy(bytes, &word, 4);
        return 4;
    }
}

static void fill_array(enum iteration_fill fill, uint8_t *array, size_t bytes, uint64_t seed)
{
    uint64_t state = seed * 2 + 1;
    uint8_t element[8];
    for (size_t at = 0, n = 0; at < bytes; n++) {
        size_t size = make_element(fill, n, &state, element);
        memcpy(array + at, element, size < bytes - at ? size : bytes - at);
        at += size;
    }
}

void iteration_memory_fill(struct iteration_memory *memory, const struct iteration_case *c,
                           const struct iteration_size *size, bool is_at_end)
{
    for (int i = 0; i < ITERATION_ARRAYS; i++) {
        size_t bytes = iteration_array_bytes(&c->arrays[i], size);
        memory->bytes[i] = bytes;
        memset(memory->region[i], AROUND, memory->region_bytes[i]);
        memory->array[i] = memory->region[i] + (is_at_end ? memory->region_bytes[i] - bytes : 0);
        fill_array(c->arrays[i].fill, memory->array[i], bytes,
                   (uint64_t)i + 8 * ((uint64_t)size->nx + 1024 * ((uint64_t)size->ny + size->n)));
    }
}

/* ---- comparing ---- */

size_t iteration_memory_bytes(const struct iteration_memory *memory)
{
    return memory->bytes[0] + memory->bytes[1] + memory->bytes[2];
}

void iteration_memory_copy(const struct iteration_memory *memory, uint8_t *copy)
{
    for (int i = 0; i < ITERATION_ARRAYS; i++) {
        memcpy(copy, memory->array[i], memory->bytes[i]);
        copy += memory->bytes[i];
    }
}

static size_t count_different(const uint8_t *a, const uint8_t *b, size_t bytes, size_t *first)
{
    size_t count = 0;
    for (size_t at = bytes; at-- > 0;)
        if (a[at] != b[at]) {
            count++;
            *first = at;
        }
    return count;
}

static bool check_around(const struct iteration_memory *memory, int i)
{
    size_t before = (size_t)(memory->array[i] - memory->region[i]);
    for (size_t at = 0; at < memory->region_bytes[i]; at++)
        if ((at < before || at >= before + memory->bytes[i]) && memory->region[i][at] != AROUND)
            return false;
    return true;
}

bool iteration_memory_check(const struct iteration_memory *memory, const uint8_t *copy, char *words,
                            size_t words_bytes)
{
    for (int i = 0; i < ITERATION_ARRAYS; i++) {
        size_t first = 0;
        size_t count = count_different(memory->array[i], copy, memory->bytes[i], &first);
        if (count > 0) {
            uint32_t is = 0;
            uint32_t expected = 0;
            size_t word = first & ~(size_t)3;
            size_t len = memory->bytes[i] - word < 4 ? memory->bytes[i] - word : 4;
            memcpy(&is, memory->array[i] + word, len);
            memcpy(&expected, copy + word, len);
            snprintf(words, words_bytes, "%zu bytes differ, first %c+%zu: 0x%08x instead of 0x%08x",
                     count, 'a' + i, first, is, expected);
            return false;
        }
        if (!check_around(memory, i)) {
            snprintf(words, words_bytes, "bytes beside %c were written", 'a' + i);
            return false;
        }
        copy += memory->bytes[i];
    }
    return true;
}
