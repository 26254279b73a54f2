/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA runtime's validity check of its driver (docs/legal.md): the answer to it, and nothing
 * else. Left out with -DPTXRUN_HANDSHAKE=OFF; statically linked runtimes then refuse to work.
 */
#ifndef PTXRUN_CUDART_DRIVER_HANDSHAKE_H
#define PTXRUN_CUDART_DRIVER_HANDSHAKE_H

#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/result.h"

#define MD2_BYTES 16

/* MD2 (RFC 1319) of len bytes. */
void handshake_md2(const uint8_t *message, size_t len, uint8_t digest[MD2_BYTES]);

/* HMAC (RFC 2104) over MD2 (RFC 1319) with the key of the check. len is at most 512. */
void handshake_hash(const uint8_t *message, size_t len, uint8_t digest[MD2_BYTES]);

/* The addresses that the runtime sees, which are part of the message. */
struct handshake_tables {
    const void *runtime_table;  /* of internal runtime functions */
    const void *validity_table; /* of the check itself */
    const void *validity_function;
};

/* The answer to the check that the runtime makes with these arguments. Always
 * CRT_SUCCESS. Thread-safe. */
enum crt_result handshake_answer(const struct handshake_tables *tables, uint32_t version,
                                 uint64_t unix_time, uint64_t answer[2]);

#endif
