/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that the host shares with kernels is closed to it with each operation that it submits. The
 * first access to a page after that is looked at, and opens the page: its address is known to the
 * byte, and what follows there is not heard of. When all work has ended, and the host knows it, an
 * access opens the whole allocation. System calls are not accesses of the program: those that move
 * data are called through functions here, which know all that they touch.
 */
#include "cudart/core/code/race_host.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cudart/core/base/process.h"
#include "cudart/core/code/race_memory.h"
#include "cudart/core/memory/host_pages.h"
#include "cudart/core/races/works.h"
#include "scheduler/imports.h"
#include "scheduler/scheduler.h"
#include "util/pages.h"
#include "util/protection_key.h"

#define PLACES 8

/* Between two operations that it submits the host does the same all the time: what one place of the
 * program does is one work. Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    struct place {
        const void *pc;
        uint32_t work;
    } places[PLACES];
} host = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- works ---- */

static uint32_t add_work(const void *pc, bool is_call)
{
    struct race_work work = {.is_host = true, .moment = sch_host_moment()};
    if (is_call)
        crt_frames_take(&work.calls);
    else
        crt_frames_take_at(&work.calls, pc);
    return race_work_add(&work);
}

/* is_call: of a function here, which returns to pc. */
static uint32_t work_at(const void *pc, bool is_call)
{
    struct place *place = &host.places[(uintptr_t)pc / 2 % PLACES];
    pthread_mutex_lock(&host.lock);
    if (place->work == 0 || place->pc != pc)
        *place = (struct place){pc, add_work(pc, is_call)};
    uint32_t work = place->work;
    pthread_mutex_unlock(&host.lock);
    return work;
}

/* ---- what the scheduler tells ---- */

static void on_submit(void)
{
    pthread_mutex_lock(&host.lock);
    memset(host.places, 0, sizeof host.places);
    pthread_mutex_unlock(&host.lock);
    crt_host_pages_close();
}

/* In a handler, but as a call of the instruction: whoever is interrupted holds no lock of ours. */
static bool on_access(uintptr_t address, bool is_write, const void *pc)
{
    if (crt_is_forked()) {
        pxr_key_unlock(pxr_round_down_to_pages(address), pxr_page_bytes());
        return true;
    }
    bool is_in_order = sch_host_follows_all();
    if (!crt_host_pages_open(address, is_in_order))
        return false;
    if (!is_in_order)
        crt_race_access_host(work_at(pc, false), address, 1, is_write);
    return true;
}

/* ---- functions of libc that call the system ---- */

/* Whether the thread may access memory that is closed is the same again when it has. */
static bool begin_transfer(const void *base, size_t bytes, bool is_write, const void *caller)
{
    uint64_t place;
    bool holds_key = pxr_key_is_held();
    if (crt_is_forked() || holds_key)
        return holds_key;
    if (bytes > 0 && crt_race_place((uintptr_t)base, bytes, &place) && !sch_host_follows_all())
        crt_race_access_host(work_at(caller, true), (uintptr_t)base, bytes, is_write);
    pxr_key_hold(true);
    return false;
}

#define TRANSFER(result, name, is_write, base, bytes, params, args)                                \
    static result watched_##name params                                                            \
    {                                                                                              \
        bool holds_key = begin_transfer(base, bytes, is_write, __builtin_return_address(0));       \
        result done = name args;                                                                   \
        pxr_key_hold(holds_key);                                                                   \
        return done;                                                                               \
    }

TRANSFER(ssize_t, read, true, to, bytes, (int file, void *to, size_t bytes), (file, to, bytes))
TRANSFER(ssize_t, write, false, from, bytes, (int file, const void *from, size_t bytes),
         (file, from, bytes))
TRANSFER(ssize_t, pread, true, to, bytes, (int file, void *to, size_t bytes, off_t at),
         (file, to, bytes, at))
TRANSFER(ssize_t, pwrite, false, from, bytes, (int file, const void *from, size_t bytes, off_t at),
         (file, from, bytes, at))
TRANSFER(ssize_t, recv, true, to, bytes, (int file, void *to, size_t bytes, int flags),
         (file, to, bytes, flags))
TRANSFER(ssize_t, send, false, from, bytes, (int file, const void *from, size_t bytes, int flags),
         (file, from, bytes, flags))
TRANSFER(size_t, fread, true, to, bytes *count, (void *to, size_t bytes, size_t count, FILE *file),
         (to, bytes, count, file))
TRANSFER(size_t, fwrite, false, from, bytes *count,
         (const void *from, size_t bytes, size_t count, FILE *file), (from, bytes, count, file))

/* C++ streams: what is buffered, and what is not. */
static ssize_t watched_writev(int file, const struct iovec *parts, int count)
{
    bool holds_key = pxr_key_is_held();
    for (int i = 0; i < count; i++) {
        begin_transfer(parts[i].iov_base, parts[i].iov_len, false, __builtin_return_address(0));
        pxr_key_hold(holds_key);
    }
    pxr_key_hold(true);
    ssize_t done = writev(file, parts, count);
    pxr_key_hold(holds_key);
    return done;
}

#define IMPORT(name, function) {name, (void *)(uintptr_t)(function)}

static const struct sch_import imports[] = {
    IMPORT("read", watched_read),     IMPORT("write", watched_write),
    IMPORT("pread", watched_pread),   IMPORT("pread64", watched_pread),
    IMPORT("pwrite", watched_pwrite), IMPORT("pwrite64", watched_pwrite),
    IMPORT("recv", watched_recv),     IMPORT("send", watched_send),
    IMPORT("fread", watched_fread),   IMPORT("fwrite", watched_fwrite),
    IMPORT("writev", watched_writev),
};

void crt_race_watch_host(void)
{
    static const struct sch_host_watch watch = {on_access, on_submit};
    if (!crt_host_pages_begin())
        return;
    sch_imports_add(imports, sizeof imports / sizeof *imports);
    sch_watch_host(&watch);
}
