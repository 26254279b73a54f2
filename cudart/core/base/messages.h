/* SPDX-License-Identifier: Apache-2.0
 *
 * The last errors and warnings that were logged, for programs that ask for them (cuLogs…).
 * Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_MESSAGES_H
#define PTXRUN_CUDART_CORE_BASE_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "cudart/core/base/result.h"

struct crt_listener;

/* level: 0 error, 1 warning. Called in the thread that logs, with no lock held. */
typedef void (*crt_message_fn)(void *data, int level, char *message, size_t len);

CRT_API_BEGIN

/* CRT_NOT_INITIALIZED in the child of a fork, where the functions below must not be called. */
enum crt_result crt_messages_ready(void);

/* CRT_OUT_OF_MEMORY when there are too many listeners. */
enum crt_result crt_messages_listen(crt_message_fn fn, void *data, struct crt_listener **listener);
/* CRT_INVALID_VALUE when it does not listen. A call of fn in another thread may still run. */
enum crt_result crt_messages_unlisten(struct crt_listener *listener);

/* Number of the next message. */
unsigned crt_messages_tail(void);

/* Writes messages from number *from on (NULL: all that are kept), each with a newline, and a NUL
 * to buffer; *from becomes the number of the next. When not all fit, or older ones are lost, a
 * line says so and the newest are written. Returns the length without the NUL; 0 when there are
 * none or buffer has no room for any, which *is_too_small tells. */
size_t crt_messages_copy(unsigned *from, char *buffer, size_t cap, bool *is_too_small);

CRT_API_END

/* The most that crt_messages_copy can write, with the NUL. */
#define CRT_MESSAGES_BYTES 25600

#endif
