/* SPDX-License-Identifier: Apache-2.0
 *
 * Passes memory files from one process to another: each process that has exported something listens
 * on an abstract socket whose name is a random token, and gives descriptors to processes of the
 * same user. A descriptor that has arrived stays good when the exporter ends. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_IPC_SOCKET_H
#define PTXRUN_CUDART_CORE_BASE_IPC_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "cudart/core/base/result.h"

#define CRT_IPC_TOKEN_BYTES 16

/* Names an exporting process. */
struct crt_ipc_token {
    uint8_t bytes[CRT_IPC_TOKEN_BYTES];
};

enum crt_ipc_what { CRT_IPC_MEMORY, CRT_IPC_EVENTS };

struct crt_ipc_request {
    uint32_t what;
    uint64_t address; /* of memory */
    uint64_t id;
};

struct crt_ipc_answer {
    uint32_t result; /* enum crt_result */
    int32_t device;  /* of memory */
    uint64_t offset;
    uint64_t size_bytes;
};

/* Answers a request from another process; *file stays the answerer's. Called by the thread that
 * listens. */
typedef void (*crt_ipc_answer_fn)(const struct crt_ipc_request *request,
                                  struct crt_ipc_answer *answer, int *file);

/* Listens from the first call on. *token is this process's. */
enum crt_result crt_ipc_listen(crt_ipc_answer_fn answer, struct crt_ipc_token *token);

/* Whether this process has that token. */
bool crt_ipc_is_own(const struct crt_ipc_token *token);

/* Asks the process with that token. *file becomes the caller's when the answer's result is
 * CRT_SUCCESS. CRT_INVALID_HANDLE when there is no such process any more. */
enum crt_result crt_ipc_ask(const struct crt_ipc_token *token,
                            const struct crt_ipc_request *request, struct crt_ipc_answer *answer,
                            int *file);

/* A detached thread that takes none of the program's signals; false when there can be none. */
bool crt_ipc_start_thread(void *(*run)(void *arg), void *arg);

#endif
