/* SPDX-License-Identifier: Apache-2.0
 *
 * Sockets between processes: one request, one answer, at most one descriptor with it.
 */
#include "cudart/core/base/ipc_socket.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Limits one side's wait for the other, which needs only a few microseconds. */
#define SERVER_PATIENCE_S 1
#define CLIENT_PATIENCE_S 10
#define CONNECTIONS       128

/* Guarded by lock; constant once is_listening is true. */
static struct {
    pthread_mutex_t lock;
    bool is_listening;
    int socket;
    crt_ipc_answer_fn answer;
    struct crt_ipc_token token;
} server = {.lock = PTHREAD_MUTEX_INITIALIZER, .socket = -1};

static socklen_t make_address(const struct crt_ipc_token *token, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    char *name = address->sun_path + 1; /* a leading zero makes it abstract */
    size_t len = (size_t)snprintf(name, sizeof address->sun_path - 1, "ptxrun-");
    for (int i = 0; i < CRT_IPC_TOKEN_BYTES; i++)
        len += (size_t)snprintf(name + len, sizeof address->sun_path - 1 - len, "%02x",
                                token->bytes[i]);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
}

static bool is_same_user(int connection)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
           peer.uid == geteuid();
}

static void set_patience(int connection, int seconds)
{
    struct timeval time = {.tv_sec = seconds};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

/* Room for one descriptor, aligned as the message functions want it. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static void send_answer(int connection, const struct crt_ipc_answer *answer, int file)
{
    union control control = {.bytes = {0}};
    struct iovec data = {.iov_base = (void *)answer, .iov_len = sizeof *answer};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    if (file >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof file);
        memcpy(CMSG_DATA(header), &file, sizeof file);
    }
    sendmsg(connection, &message, MSG_NOSIGNAL);
}

static void serve_connection(int connection)
{
    struct crt_ipc_request request;
    struct crt_ipc_answer answer = {.result = CRT_INVALID_HANDLE};
    int file = -1;
    set_patience(connection, SERVER_PATIENCE_S);
    if (!is_same_user(connection) ||
        recv(connection, &request, sizeof request, 0) != (ssize_t)sizeof request)
        return;
    server.answer(&request, &answer, &file);
    send_answer(connection, &answer, answer.result == CRT_SUCCESS ? file : -1);
}

static void *serve(void *arg)
{
    (void)arg;
    for (;;) {
        int connection = accept4(server.socket, NULL, NULL, SOCK_CLOEXEC);
        if (connection < 0) {
            usleep(1000); /* out of descriptors: the program may close some */
            continue;
        }
        serve_connection(connection);
        close(connection);
    }
    return NULL;
}

/* The child has no such thread: connecting must fail rather than wait. */
static void close_in_child(void)
{
    if (server.socket >= 0)
        close(server.socket);
}

static int open_socket(const struct crt_ipc_token *token)
{
    struct sockaddr_un address;
    socklen_t len = make_address(token, &address);
    int opened = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (opened >= 0 &&
        (bind(opened, (struct sockaddr *)&address, len) != 0 || listen(opened, CONNECTIONS) != 0)) {
        close(opened);
        return -1;
    }
    return opened;
}

bool crt_ipc_start_thread(void *(*run)(void *arg), void *arg)
{
    sigset_t all;
    sigset_t before;
    pthread_attr_t attributes;
    pthread_t thread;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error == 0;
}

static enum crt_result listen_locked(crt_ipc_answer_fn answer)
{
    if (server.is_listening)
        return CRT_SUCCESS;
    if (getrandom(&server.token, sizeof server.token, 0) != (ssize_t)sizeof server.token)
        return CRT_OPERATING_SYSTEM;
    server.answer = answer;
    server.socket = open_socket(&server.token);
    if (server.socket < 0)
        return CRT_OPERATING_SYSTEM;
    server.is_listening = crt_ipc_start_thread(serve, NULL);
    if (!server.is_listening) {
        close(server.socket);
        server.socket = -1;
        return CRT_OUT_OF_MEMORY;
    }
    pthread_atfork(NULL, NULL, close_in_child);
    return CRT_SUCCESS;
}

enum crt_result crt_ipc_listen(crt_ipc_answer_fn answer, struct crt_ipc_token *token)
{
    pthread_mutex_lock(&server.lock);
    enum crt_result result = listen_locked(answer);
    *token = server.token;
    pthread_mutex_unlock(&server.lock);
    return result;
}

bool crt_ipc_is_own(const struct crt_ipc_token *token)
{
    pthread_mutex_lock(&server.lock);
    bool is_own = server.is_listening && memcmp(token, &server.token, sizeof *token) == 0;
    pthread_mutex_unlock(&server.lock);
    return is_own;
}

/* -1 when the message brought no descriptor. */
static int descriptor_of(struct msghdr *message)
{
    struct cmsghdr *header = CMSG_FIRSTHDR(message);
    int file = -1;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof file))
        memcpy(&file, CMSG_DATA(header), sizeof file);
    return file;
}

static enum crt_result receive_answer(int connection, struct crt_ipc_answer *answer, int *file)
{
    union control control;
    struct iovec data = {.iov_base = answer, .iov_len = sizeof *answer};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof *answer)
        return CRT_INVALID_HANDLE;
    *file = descriptor_of(&message);
    if (answer->result != CRT_SUCCESS)
        return (enum crt_result)answer->result;
    return *file >= 0 ? CRT_SUCCESS : CRT_MAP_FAILED;
}

enum crt_result crt_ipc_ask(const struct crt_ipc_token *token,
                            const struct crt_ipc_request *request, struct crt_ipc_answer *answer,
                            int *file)
{
    struct sockaddr_un address;
    socklen_t len = make_address(token, &address);
    int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connection < 0)
        return CRT_OPERATING_SYSTEM;
    set_patience(connection, CLIENT_PATIENCE_S);
    enum crt_result result = CRT_INVALID_HANDLE;
    if (connect(connection, (struct sockaddr *)&address, len) == 0 && is_same_user(connection) &&
        send(connection, request, sizeof *request, MSG_NOSIGNAL) == (ssize_t)sizeof *request)
        result = receive_answer(connection, answer, file);
    close(connection);
    return result;
}
