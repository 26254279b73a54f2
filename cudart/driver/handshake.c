/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer to the CUDA runtime's validity check. The layout of the message is described in
 * docs/legal.md's references; MD2 follows RFC 1319, HMAC RFC 2104.
 */
#include "cudart/driver/handshake.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/process.h"

#define MESSAGE_LIMIT 512

/* RFC 1319, section 3.2: a permutation of 0..255 made from the digits of pi. */
static const uint8_t pi_digits[256] = {
    41,  46,  67,  201, 162, 216, 124, 1,   61,  54,  84,  161, 236, 240, 6,   19,  98,  167, 5,
    243, 192, 199, 115, 140, 152, 147, 43,  217, 188, 76,  130, 202, 30,  155, 87,  60,  253, 212,
    224, 22,  103, 66,  111, 24,  138, 23,  229, 18,  190, 78,  196, 214, 218, 158, 222, 73,  160,
    251, 245, 142, 187, 47,  238, 122, 169, 104, 121, 145, 21,  178, 7,   63,  148, 194, 16,  137,
    11,  34,  95,  33,  128, 127, 93,  154, 90,  144, 50,  39,  53,  62,  204, 231, 191, 247, 151,
    3,   255, 25,  48,  179, 72,  165, 181, 209, 215, 94,  146, 42,  172, 86,  170, 198, 79,  184,
    56,  210, 150, 164, 125, 182, 118, 252, 107, 226, 156, 116, 4,   241, 69,  157, 112, 89,  100,
    113, 135, 32,  134, 91,  207, 101, 230, 45,  168, 2,   27,  96,  37,  173, 174, 176, 185, 246,
    28,  70,  97,  105, 52,  64,  126, 15,  85,  71,  163, 35,  221, 81,  175, 58,  195, 92,  249,
    206, 186, 197, 234, 38,  44,  83,  13,  110, 133, 40,  132, 9,   211, 223, 205, 244, 65,  129,
    77,  82,  106, 220, 55,  200, 108, 193, 171, 250, 36,  225, 123, 8,   12,  189, 177, 74,  120,
    136, 149, 139, 227, 99,  232, 109, 233, 203, 213, 254, 59,  0,   29,  57,  242, 239, 183, 14,
    102, 88,  208, 228, 166, 119, 114, 248, 235, 117, 75,  10,  49,  68,  80,  180, 143, 237, 31,
    26,  219, 153, 141, 51,  159, 17,  131, 20,
};

struct md2_state {
    uint8_t x[48];
    uint8_t checksum[MD2_BYTES];
};

/* RFC 1319, sections 3.2 and 3.4, for one block of 16 bytes. */
static void md2_block(struct md2_state *state, const uint8_t block[MD2_BYTES])
{
    uint8_t last = state->checksum[15];
    for (int i = 0; i < 16; i++) {
        state->checksum[i] ^= pi_digits[block[i] ^ last];
        last = state->checksum[i];
        state->x[16 + i] = block[i];
        state->x[32 + i] = state->x[16 + i] ^ state->x[i];
    }
    uint8_t t = 0;
    for (int round = 0; round < 18; round++) {
        for (int k = 0; k < 48; k++)
            t = state->x[k] ^= pi_digits[t];
        t = (uint8_t)(t + round);
    }
}

void handshake_md2(const uint8_t *message, size_t len, uint8_t digest[MD2_BYTES])
{
    struct md2_state state = {{0}, {0}};
    for (; len >= MD2_BYTES; len -= MD2_BYTES, message += MD2_BYTES)
        md2_block(&state, message);
    uint8_t block[MD2_BYTES];
    uint8_t pad = (uint8_t)(MD2_BYTES - len);
    memset(block, pad, sizeof block);
    memcpy(block, message, len);
    md2_block(&state, block);
    memcpy(block, state.checksum, sizeof block);
    md2_block(&state, block);
    memcpy(digest, state.x, MD2_BYTES);
}

void handshake_hash(const uint8_t *message, size_t len, uint8_t digest[MD2_BYTES])
{
    static const uint8_t key[MD2_BYTES] = {0x14, 0x6a, 0xdd, 0xae, 0x53, 0xa9, 0xa7, 0x52,
                                           0xaa, 0x08, 0x41, 0x36, 0x0b, 0xf5, 0x5a, 0x9f};
    uint8_t text[MD2_BYTES + MESSAGE_LIMIT];
    uint8_t outer[2 * MD2_BYTES];
    for (int i = 0; i < MD2_BYTES; i++) {
        text[i] = key[i] ^ 0x36;
        outer[i] = key[i] ^ 0x5c;
    }
    memcpy(text + MD2_BYTES, message, len);
    handshake_md2(text, MD2_BYTES + len, outer + MD2_BYTES);
    handshake_md2(outer, sizeof outer, digest);
}

/* What both sides know of a device. */
struct device_message {
    uint8_t uuid[CRT_UUID_BYTES];
    int32_t pci[3]; /* domain, bus, device */
};

/* … and of the session. */
struct session_message {
    uint32_t driver_version;
    uint32_t version;
    uint32_t process;
    uint32_t thread;
    uint64_t runtime_table;
    uint64_t validity_table;
    uint64_t validity_function;
    uint64_t unix_time;
    struct device_message devices[CRT_DEVICES_MAX];
};

#define SESSION_BYTES 48
_Static_assert(offsetof(struct session_message, devices) == SESSION_BYTES, "");
_Static_assert(sizeof(struct device_message) == 28, "");
_Static_assert(sizeof(struct session_message) <= MESSAGE_LIMIT, "");

enum crt_result handshake_answer(const struct handshake_tables *tables, uint32_t version,
                                 uint64_t unix_time, uint64_t answer[2])
{
    if (version % 10 <= 1) {
        answer[0] = version % 10 ? UINT64_C(0x1841181C03CB675C) : UINT64_C(0x3341181C03CB675C);
        answer[1] = UINT64_C(0x8ED383AA1F4CD1E8);
        return CRT_SUCCESS;
    }
    struct session_message message = {
        .driver_version = CRT_DRIVER_VERSION,
        .version = version,
        .process = (uint32_t)getpid(),
        .thread = (uint32_t)pthread_self(),
        .runtime_table = (uint64_t)(uintptr_t)tables->runtime_table,
        .validity_table = (uint64_t)(uintptr_t)tables->validity_table,
        .validity_function = (uint64_t)(uintptr_t)tables->validity_function,
        .unix_time = unix_time,
    };
    int count = crt_device_count();
    for (int i = 0; i < count; i++) {
        const struct crt_device *device = crt_device_at(i);
        struct device_message *told = &message.devices[i];
        *told = (struct device_message){.pci = {CRT_PCI_DOMAIN, device->pci_bus, CRT_PCI_DEVICE}};
        memcpy(told->uuid, device->uuid, sizeof told->uuid);
    }
    uint8_t digest[MD2_BYTES];
    handshake_hash((const uint8_t *)&message,
                   SESSION_BYTES + (size_t)count * sizeof(struct device_message), digest);
    memcpy(answer, digest, sizeof digest);
    return CRT_SUCCESS;
}
