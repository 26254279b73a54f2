/* SPDX-License-Identifier: Apache-2.0
 *
 * A second process for tests: forked before the API is used, so that both may use it. They talk
 * through a socket. A test's own process is one that the test program has forked for it.
 */
#ifndef PTXRUN_TESTS_CUDART_PEER_PROCESS_H
#define PTXRUN_TESTS_CUDART_PEER_PROCESS_H

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver_fixture.h"

struct peer {
    pid_t pid;
    int socket;
};

/* In the peer, where the assertions of the test library do not reach the test. */
#define PEER_CHECK(claim)                                                                          \
    do {                                                                                           \
        if (!(claim)) {                                                                            \
            fprintf(stderr, "peer: %s:%d: not true: %s\n", __FILE__, __LINE__, #claim);            \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

#define PEER_OK(call) PEER_CHECK((call) == 0)

/* run's return is the end of the peer, as a success. */
static inline struct peer start_peer(void (*run)(int socket))
{
    int ends[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    struct peer peer = {.pid = fork(), .socket = ends[0]};
    cr_assert_geq(peer.pid, 0);
    if (peer.pid == 0) {
        close(ends[0]);
        alarm(60);
        run(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    return peer;
}

static inline void tell(int socket, const void *bytes, size_t count)
{
    if (write(socket, bytes, count) != (ssize_t)count)
        fprintf(stderr, "the other process has gone\n");
}

/* False when the other side has gone. */
static inline bool hear(int socket, void *bytes, size_t count)
{
    return read(socket, bytes, count) == (ssize_t)count;
}

/* Lets the other side go on, and waits until it does. */
static inline void signal_peer(int socket)
{
    tell(socket, "", 1);
}

static inline bool wait_signal(int socket)
{
    char byte;
    return hear(socket, &byte, 1);
}

static inline void expect_peer_succeeds(struct peer *peer)
{
    int status = -1;
    cr_assert_eq(waitpid(peer->pid, &status, 0), peer->pid);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the peer ended with status %x",
              (unsigned)status);
    close(peer->socket);
}

#endif
