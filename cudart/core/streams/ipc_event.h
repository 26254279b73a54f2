/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of an interprocess event, in memory that the processes share: how often it was
 * recorded, and up to which record the work before it has finished. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_STREAMS_IPC_EVENT_H
#define PTXRUN_CUDART_CORE_STREAMS_IPC_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "cudart/core/base/ipc_socket.h"
#include "cudart/core/base/result.h"

struct crt_event;
struct crt_ipc_event;
struct crt_stream;

enum crt_result crt_ipc_event_create(struct crt_ipc_event **shared);
void crt_ipc_event_release(struct crt_ipc_event *shared); /* NULL is allowed */

/* As the functions of event.h, for an event with a shared state. */
enum crt_result crt_ipc_event_record(struct crt_event *event, struct crt_stream *stream);
bool crt_ipc_event_is_reached(const struct crt_ipc_event *shared);
void crt_ipc_event_wait(struct crt_ipc_event *shared);

/* Later work of the stream waits for the last record, whichever process has made it. */
enum crt_result crt_ipc_event_stream_wait(struct crt_ipc_event *shared, struct crt_stream *stream);

/* ---- for ipc.c ---- */

/* The number of an event of this process's own. */
uint64_t crt_ipc_event_number(const struct crt_ipc_event *shared);

/* The file with the states of this process's events, -1 when there is none. */
int crt_ipc_event_file(void);

/* The state with that number of another process's events. */
enum crt_result crt_ipc_event_open(const struct crt_ipc_token *token, uint64_t number,
                                   struct crt_ipc_event **shared);

#endif
