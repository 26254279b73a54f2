/* SPDX-License-Identifier: Apache-2.0
 *
 * Interprocess events. Every process has one memory file with the states of the events it has made;
 * a process that opens one maps the file. Records are numbered; an event is complete when the last
 * number given has been reached. A thread that waits sleeps on a futex in the shared memory, and
 * looks from time to time whether the process that recorded last still lives: its work ended with
 * it.
 */
#include "cudart/core/streams/ipc_event.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/memfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utlist.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/memory_limit.h"
#include "cudart/core/streams/context.h"
#include "cudart/core/streams/event.h"
#include "cudart/core/streams/stream.h"
#include "scheduler/scheduler.h"
#include "util/guard.h"
#include "util/pages.h"

#define SLOTS          16384
#define SLEEP_NS       100000000
#define REQUIRED_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define FILE_BYTES     (SLOTS * sizeof(struct slot))

/* One event, in a file that processes share. */
struct slot {
    _Atomic uint64_t recorded; /* number of the last record */
    _Atomic uint64_t reached;  /* highest number whose work has finished */
    _Atomic uint64_t pids;     /* name of the space that recorder is a number in */
    _Atomic int32_t recorder;  /* process of the last record */
    _Atomic uint32_t change;   /* counts changes of reached, to sleep on */
    uint8_t unused[32];
};
_Static_assert(sizeof(struct slot) == 64, "one cache line, the same in every process");

/* A mapped file of another process; guarded by the lock of own. */
struct peer {
    struct crt_ipc_token token;
    struct slot *slots;
    unsigned users;
    struct peer *next;
};

struct crt_ipc_event {
    atomic_uint refs; /* of the event and of records that have not been reached */
    struct slot *slot;
    struct peer *peer; /* NULL: this process's own */
};

/* Guarded by lock. free_slots: a stack of numbers that were given back. */
static struct {
    pthread_mutex_t lock;
    int file;
    struct slot *slots;
    uint32_t used_count;
    uint32_t free_count;
    uint32_t free_slots[SLOTS];
    struct peer *peers;
} own = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = -1};

static struct slot *map_file(int file)
{
    void *slots = pxr_reserve(FILE_BYTES, pxr_page_bytes(), CRT_MAPPING_GUARD_BYTES);
    if (!slots)
        return NULL;
    if (mmap(slots, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
        MAP_FAILED) {
        pxr_unreserve(slots, FILE_BYTES, CRT_MAPPING_GUARD_BYTES);
        return NULL;
    }
    madvise(slots, FILE_BYTES, MADV_DONTFORK);
    return slots;
}

static void unmap_file(struct slot *slots)
{
    pxr_unreserve(slots, FILE_BYTES, CRT_MAPPING_GUARD_BYTES);
}

static enum crt_result make_file_locked(void)
{
    if (own.slots)
        return CRT_SUCCESS;
    if (!crt_memory_file_may_have(FILE_BYTES))
        return crt_not_supported("an interprocess event under a limit on file sizes");
    int file = memfd_create("ptxrun-events", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0)
        return CRT_OPERATING_SYSTEM;
    if (ftruncate(file, (off_t)FILE_BYTES) == 0 && fcntl(file, F_ADD_SEALS, REQUIRED_SEALS) == 0)
        own.slots = map_file(file);
    if (!own.slots) {
        close(file);
        return CRT_OUT_OF_MEMORY;
    }
    own.file = file;
    return CRT_SUCCESS;
}

static enum crt_result take_slot_locked(struct slot **slot)
{
    enum crt_result result = make_file_locked();
    if (result != CRT_SUCCESS)
        return result;
    if (own.free_count == 0 && own.used_count == SLOTS)
        return CRT_OUT_OF_MEMORY;
    uint32_t number = own.free_count ? own.free_slots[--own.free_count] : own.used_count++;
    *slot = &own.slots[number];
    memset((void *)*slot, 0, sizeof **slot);
    return CRT_SUCCESS;
}

static struct crt_ipc_event *make_event(struct slot *slot, struct peer *peer)
{
    struct crt_ipc_event *made = malloc(sizeof *made);
    if (made)
        *made = (struct crt_ipc_event){.refs = 1, .slot = slot, .peer = peer};
    return made;
}

enum crt_result crt_ipc_event_create(struct crt_ipc_event **shared)
{
    struct slot *slot = NULL;
    pthread_mutex_lock(&own.lock);
    enum crt_result result = take_slot_locked(&slot);
    struct crt_ipc_event *made = result == CRT_SUCCESS ? make_event(slot, NULL) : NULL;
    if (result == CRT_SUCCESS && !made) {
        own.free_slots[own.free_count++] = (uint32_t)(slot - own.slots);
        result = CRT_OUT_OF_MEMORY;
    }
    pthread_mutex_unlock(&own.lock);
    *shared = made;
    return result;
}

uint64_t crt_ipc_event_number(const struct crt_ipc_event *shared)
{
    return (uint64_t)(shared->slot - own.slots);
}

int crt_ipc_event_file(void)
{
    pthread_mutex_lock(&own.lock);
    int file = own.file;
    pthread_mutex_unlock(&own.lock);
    return file;
}

static void leave_peer_locked(struct peer *peer)
{
    if (--peer->users)
        return;
    LL_DELETE(own.peers, peer);
    unmap_file(peer->slots);
    free(peer);
}

void crt_ipc_event_release(struct crt_ipc_event *shared)
{
    if (!shared || atomic_fetch_sub(&shared->refs, 1) != 1)
        return;
    pthread_mutex_lock(&own.lock);
    if (shared->peer)
        leave_peer_locked(shared->peer);
    else
        own.free_slots[own.free_count++] = (uint32_t)(shared->slot - own.slots);
    pthread_mutex_unlock(&own.lock);
    free(shared);
}

/* The file of a process's events. */
static enum crt_result fetch_slots(const struct crt_ipc_token *token, struct slot **slots)
{
    struct crt_ipc_request request = {.what = CRT_IPC_EVENTS};
    struct crt_ipc_answer answer;
    struct stat status;
    int file = -1;
    enum crt_result result = crt_ipc_ask(token, &request, &answer, &file);
    if (result != CRT_SUCCESS)
        return result;
    int seals = fcntl(file, F_GET_SEALS);
    bool is_good = seals >= 0 && (seals & REQUIRED_SEALS) == REQUIRED_SEALS &&
                   fstat(file, &status) == 0 && status.st_size == (off_t)FILE_BYTES;
    *slots = is_good ? map_file(file) : NULL;
    close(file);
    return *slots ? CRT_SUCCESS : CRT_MAP_FAILED;
}

static struct peer *find_peer_locked(const struct crt_ipc_token *token)
{
    struct peer *peer;
    LL_FOREACH(own.peers, peer)
    if (memcmp(&peer->token, token, sizeof *token) == 0)
        return peer;
    return NULL;
}

/* The peer with that token, with one more user. The other process is asked without the lock: it
 * may be asking this one. */
static enum crt_result join_peer(const struct crt_ipc_token *token, struct peer **joined)
{
    pthread_mutex_lock(&own.lock);
    struct peer *peer = find_peer_locked(token);
    if (peer)
        peer->users++;
    pthread_mutex_unlock(&own.lock);
    *joined = peer;
    if (peer)
        return CRT_SUCCESS;
    struct slot *slots;
    enum crt_result result = fetch_slots(token, &slots);
    if (result != CRT_SUCCESS)
        return result;
    peer = malloc(sizeof *peer);
    if (!peer) {
        unmap_file(slots);
        return CRT_OUT_OF_MEMORY;
    }
    /* Another thread may have added it meanwhile; two mappings of one file do no harm. */
    *peer = (struct peer){.token = *token, .slots = slots, .users = 1};
    pthread_mutex_lock(&own.lock);
    LL_PREPEND(own.peers, peer);
    pthread_mutex_unlock(&own.lock);
    *joined = peer;
    return CRT_SUCCESS;
}

enum crt_result crt_ipc_event_open(const struct crt_ipc_token *token, uint64_t number,
                                   struct crt_ipc_event **shared)
{
    struct peer *peer;
    if (number >= SLOTS)
        return CRT_INVALID_HANDLE;
    enum crt_result result = join_peer(token, &peer);
    if (result != CRT_SUCCESS)
        return result;
    *shared = make_event(&peer->slots[number], peer);
    if (*shared)
        return CRT_SUCCESS;
    pthread_mutex_lock(&own.lock);
    leave_peer_locked(peer);
    pthread_mutex_unlock(&own.lock);
    return CRT_OUT_OF_MEMORY;
}

/* Names the space of process numbers: those of two containers mean different processes. */
static uint64_t space_of_pids(void)
{
    struct stat status;
    return stat("/proc/self/ns/pid", &status) == 0 ? (uint64_t)status.st_ino : 0;
}

static uint64_t begin_record(struct slot *slot)
{
    atomic_store(&slot->pids, space_of_pids());
    atomic_store(&slot->recorder, (int32_t)getpid());
    return atomic_fetch_add(&slot->recorded, 1) + 1;
}

static void reach_record(struct slot *slot, uint64_t number)
{
    uint64_t reached = atomic_load(&slot->reached);
    while (reached < number && !atomic_compare_exchange_weak(&slot->reached, &reached, number))
        ;
    atomic_fetch_add(&slot->change, 1);
    syscall(SYS_futex, &slot->change, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* A record whose work has not finished. */
struct record {
    struct crt_ipc_event *shared;
    uint64_t number;
};

static void finish_record(void *arg, const struct sch_fault *fault)
{
    struct record *record = arg;
    (void)fault;
    reach_record(record->shared->slot, record->number);
    crt_ipc_event_release(record->shared);
    free(record);
}

enum crt_result crt_ipc_event_record(struct crt_event *event, struct crt_stream *stream)
{
    struct record *record = malloc(sizeof *record);
    struct sch_op *op = record ? sch_op_marker(finish_record, record) : NULL;
    if (!op) {
        free(record);
        return CRT_OUT_OF_MEMORY;
    }
    atomic_fetch_add(&event->shared->refs, 1);
    *record = (struct record){.shared = event->shared};
    record->number = begin_record(event->shared->slot);
    sch_op_retain(op);
    enum crt_result result = crt_stream_submit(stream, op, NULL);
    if (result == CRT_SUCCESS) {
        crt_event_set_operation(event, op);
        return CRT_SUCCESS;
    }
    sch_op_release(op); /* without having run: its done function was not called */
    finish_record(record, NULL);
    return result;
}

/* Whether a process has ended: it is no more, or only waits for its parent to ask. */
static bool is_process_gone(int pid)
{
    char path[64];
    char line[512] = "";
    if (kill(pid, 0) != 0)
        return true;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    char *name_end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    return name_end && name_end[1] && (name_end[2] == 'Z' || name_end[2] == 'X');
}

static bool is_recorder_gone(struct slot *slot)
{
    int pid = atomic_load(&slot->recorder);
    uint64_t pids = atomic_load(&slot->pids);
    return pid && pid != getpid() && pids && pids == space_of_pids() && is_process_gone(pid);
}

/* Waits until a record is reached. Records of a process that has ended count as reached. */
static void wait_for(struct slot *slot, uint64_t number)
{
    struct timespec patience = {.tv_nsec = SLEEP_NS};
    for (;;) {
        uint32_t change = atomic_load(&slot->change);
        if (atomic_load(&slot->reached) >= number)
            return;
        long error = syscall(SYS_futex, &slot->change, FUTEX_WAIT, change, &patience, NULL, 0);
        if (error && is_recorder_gone(slot))
            reach_record(slot, atomic_load(&slot->recorded));
    }
}

bool crt_ipc_event_is_reached(const struct crt_ipc_event *shared)
{
    struct slot *slot = shared->slot;
    if (atomic_load(&slot->reached) >= atomic_load(&slot->recorded))
        return true;
    return is_recorder_gone(slot);
}

void crt_ipc_event_wait(struct crt_ipc_event *shared)
{
    wait_for(shared->slot, atomic_load(&shared->slot->recorded));
}

/* A wait on behalf of a stream, by a thread of its own. */
struct stream_wait {
    struct crt_ipc_event *shared;
    uint64_t number;
    struct sch_op *gate; /* submitted when the record is reached */
};

static void *run_stream_wait(void *arg)
{
    struct stream_wait *wait = arg;
    wait_for(wait->shared->slot, wait->number);
    sch_op_follow_all(wait->gate);
    sch_op_submit(wait->gate);
    sch_op_release(wait->gate);
    crt_ipc_event_release(wait->shared);
    free(wait);
    return NULL;
}

/* A waiting thread, on whose end the returned operation depends; NULL when there can be none. */
static struct sch_op *start_stream_wait(struct crt_ipc_event *shared, uint64_t number)
{
    struct stream_wait *wait = malloc(sizeof *wait);
    struct sch_op *gate = sch_op_marker(NULL, NULL);
    struct sch_op *op = sch_op_marker(NULL, NULL);
    if (wait && gate && op && sch_op_depend(op, gate) == PXR_OK) {
        atomic_fetch_add(&shared->refs, 1);
        *wait = (struct stream_wait){.shared = shared, .number = number, .gate = gate};
        if (crt_ipc_start_thread(run_stream_wait, wait))
            return op;
        crt_ipc_event_release(shared);
        sch_op_submit(gate); /* lets go of op */
    }
    sch_op_release(op);
    sch_op_release(gate);
    free(wait);
    return NULL;
}

enum crt_result crt_ipc_event_stream_wait(struct crt_ipc_event *shared, struct crt_stream *stream)
{
    uint64_t number = atomic_load(&shared->slot->recorded);
    if (atomic_load(&shared->slot->reached) >= number)
        return CRT_SUCCESS;
    struct sch_op *op = start_stream_wait(shared, number);
    return op ? crt_stream_submit(stream, op, NULL) : CRT_OUT_OF_MEMORY;
}
