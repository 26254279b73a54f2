/* SPDX-License-Identifier: Apache-2.0
 *
 * A copy of megabytes is kept by pages, its ends by words. A page also says who has used its cells,
 * so a copy looks at these only where that is in no order with it.
 */
#include "cudart/core/code/race_memory.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cudart/core/check/call_finding.h"
#include "cudart/core/code/finding_place.h"
#include "cudart/core/code/launch.h"
#include "cudart/core/code/module.h"
#include "cudart/core/code/race_host.h"
#include "cudart/core/code/schedules.h"
#include "cudart/core/memory/access_watch.h"
#include "cudart/core/memory/describe.h"
#include "cudart/core/memory/shadow.h"
#include "cudart/core/races/works.h"
#include "scheduler/scheduler.h"
#include "util/log.h"
#include "util/readable_name.h"

#define PAGE_BYTES CRT_RACE_PAGE_BYTES
#define PAGE_CELLS (PAGE_BYTES / RACE_CELL_BYTES)

/* In place of a page's last user: there are several, not all of them in order. */
#define MANY (UINT32_C(1) << 31)

struct page {
    _Atomic uint32_t users; /* of its cells: the last work, or MANY */
    _Atomic uint32_t write; /* that has written all of it, by the last copy or fill … */
    _Atomic uint32_t read;  /* … and read */
    _Atomic uint32_t host;  /* what the host has done last with any of it … */
    _Atomic uint32_t tells; /* … and the last launch with an access that is strong towards it */
};

struct crt_race_memory crt_race_memory; /* empty: there are no cells */
struct crt_race_lock crt_race_locks[CRT_RACE_LOCKS];

static struct {
    pthread_once_t once;
    struct page *pages;
} global = {.once = PTHREAD_ONCE_INIT};

static void *map(size_t bytes)
{
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

/* The parts of the shadow, and how many bytes of each there are for a strip. */
static const struct part {
    size_t offset;
    size_t bytes;
} parts[] = {
    {offsetof(struct race_shadow, strips), sizeof(struct race_strip)},
    {offsetof(struct race_shadow, more), sizeof(struct race_strip_more)},
    {offsetof(struct race_shadow, before), sizeof(struct race_strip)},
    {offsetof(struct race_shadow, more_before), sizeof(struct race_strip_more)},
    {offsetof(struct race_shadow, settled), sizeof(struct race_settled)},
    {offsetof(struct race_shadow, values), RACE_STRIP_WORDS * sizeof(uint32_t)},
    {offsetof(struct race_shadow, cells), RACE_STRIP_WORDS * sizeof(struct race_cell)},
};

#define PARTS (sizeof parts / sizeof *parts)

static void **part_of(size_t part)
{
    return (void **)((char *)&crt_race_memory.shadow + parts[part].offset);
}

static void make(void)
{
    struct rt_checked range = crt_shadow_checked();
    bool is_made = true;
    for (size_t i = 0; i < PARTS; i++) {
        *part_of(i) = map(range.size_bytes / RACE_STRIP_BYTES * parts[i].bytes);
        is_made &= *part_of(i) != NULL;
    }
    global.pages = map((range.size_bytes / PAGE_BYTES + 1) * sizeof(struct page));
    crt_race_memory.begin = range.begin;
    if (is_made && global.pages)
        crt_race_memory.size_bytes = range.size_bytes;
    else
        pxr_log(PXR_LOG_WARNING, "no address space for checks of races in global memory; smaller "
                                 "--device-memory needs less");
}

void crt_race_find_device_memory(void)
{
    pthread_once(&global.once, make);
}

struct race_cell *crt_race_lock_cell(uint64_t place)
{
    crt_race_lock(place);
    return race_shadow_cell(&crt_race_memory.shadow, place / RACE_CELL_BYTES);
}

/* A copy of it, or of what would stand there. */
static struct race_cell look_at_cell(uint64_t place)
{
    crt_race_lock(place);
    struct race_cell cell = race_shadow_look(&crt_race_memory.shadow, place / RACE_CELL_BYTES);
    crt_race_unlock(place);
    return cell;
}

/* ---- works ---- */

uint32_t crt_race_work_of(const struct rt_launch *rt)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct crt_launch *launch = crt_launch_of(rt);
    uint32_t number = atomic_load(&launch->race_work);
    if (number != 0)
        return number;
    pthread_mutex_lock(&lock);
    number = atomic_load(&launch->race_work);
    if (number == 0) {
        struct race_work work = {.moment = sch_op_moment(sch_op_of(rt)),
                                 .kernel = launch->kernel,
                                 .launch = launch->number};
        memcpy(work.grid, rt->grid, sizeof work.grid);
        memcpy(work.block, rt->block, sizeof work.block);
        if (launch->calls)
            work.calls = *launch->calls;
        number = race_work_add(&work);
        atomic_store(&launch->race_work, number);
    }
    pthread_mutex_unlock(&lock);
    return number;
}

/* op: NULL for the host. */
static bool is_before(struct sch_op *op, uint32_t number)
{
    const struct race_work *work = race_work_get(number);
    return !work || (op ? sch_op_follows(op, work->moment) : sch_host_follows(work->moment));
}

static bool talks_to(const struct crt_running_block *running, uint32_t number)
{
    return running->work != 0 && race_work_get(number)->is_host &&
           race_work_get(running->work)->has_met_host;
}

bool crt_race_ask_work_is_before(struct crt_running_block *running, uint32_t work)
{
    uint32_t *ordered = &running->ordered_works[work % CRT_ORDERED_WORKS];
    if (work == running->beside_work)
        return false;
    bool is_ordered = is_before(running->op, work) || talks_to(running, work);
    if (is_ordered)
        *ordered = work;
    else if (!race_work_get(work)->is_host) /* they may talk later */
        running->beside_work = work;
    return is_ordered;
}

static void describe_kernel(const struct race_work *work, const struct race_access *access,
                            char *text, size_t cap)
{
    const uint32_t *grid = work->grid;
    const uint32_t *block = work->block;
    char place[PTX_PLACE_TEXT_BYTES + 16] = "a place that is gone";
    char *name = NULL;
    if (crt_kernel_is_valid(work->kernel)) {
        crt_kernel_place_text(work->kernel, access->line, place, sizeof place);
        name = pxr_readable_name(crt_kernel_name(work->kernel));
    }
    snprintf(text, cap, "%s, block (%u,%u,%u), thread (%u,%u,%u) at %s",
             name ? name : "another kernel", access->block % grid[0],
             access->block / grid[0] % grid[1], access->block / grid[0] / grid[1],
             access->thread % block[0], access->thread / block[0] % block[1],
             access->thread / block[0] / block[1], place);
    free(name);
}

void crt_race_describe_calls(uint32_t number, const char *what, char *text, size_t cap)
{
    const struct race_work *work = race_work_get(number);
    if (!work)
        return;
    struct crt_host_place place = crt_frames_source(&work->calls);
    size_t len = strlen(text);
    if (work->calls.count == 0)
        snprintf(text + len, cap - len, "%s in a graph", what);
    else if (place.file)
        snprintf(text + len, cap - len, "%s at %s:%" PRIu32, what, place.file, place.line);
}

void crt_race_describe(uint32_t number, const struct race_access *access, char *text, size_t cap)
{
    const struct race_work *work = race_work_get(number);
    if (work->is_host)
        snprintf(text, cap, "the host");
    else if (work->name)
        snprintf(text, cap, "a %s", work->name);
    else
        describe_kernel(work, access, text, cap);
    crt_race_describe_calls(number,
                            work->is_host ? ""
                            : work->name  ? ", called"
                                          : ", launched",
                            text, cap);
}

/* ---- pages ---- */

static struct page *page_of(uint64_t place)
{
    return &global.pages[place / PAGE_BYTES];
}

static uint32_t get(_Atomic uint32_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

static void set(_Atomic uint32_t *number, uint32_t to)
{
    if (get(number) != to)
        atomic_store_explicit(number, to, memory_order_relaxed);
}

static void note_user(struct page *page, uint32_t work, bool comes_after_last)
{
    set(&page->users, comes_after_last ? work : MANY);
}

/* What is in order with the host counts as told to it, whatever of the page it was. */
static void meet_host(struct page *page, struct crt_running_block *running)
{
    uint32_t host = get(&page->host);
    set(&page->tells, running->work);
    if (host != 0 && running->work != 0 && !crt_race_work_is_before(running, host))
        race_work_meet_host(running->work);
}

uint32_t crt_race_enter_page(uint64_t place, struct crt_running_block *running, uint8_t flags,
                             struct race_access *other)
{
    struct page *page = page_of(place);
    bool is_write = flags & RACE_WRITES;
    if ((flags & (RACE_STRONG | RACE_SYSTEM)) == (RACE_STRONG | RACE_SYSTEM))
        meet_host(page, running);
    uint32_t users = get(&page->users);
    if (users != running->work && !(users & MANY))
        note_user(page, running->work, crt_race_work_is_before(running, users));
    uint32_t write = get(&page->write);
    uint32_t read = is_write ? get(&page->read) : 0;
    bool is_written = write != 0 && !crt_race_work_is_before(running, write);
    *other = (struct race_access){.flags = is_written ? RACE_WRITES : 0};
    if (is_written)
        return write;
    return read != 0 && !crt_race_work_is_before(running, read) ? read : 0;
}

/* ---- copies and fills ---- */

static void begin_task(struct crt_watched *task, const char *name, const struct crt_frames *calls)
{
    *task = (struct crt_watched){.op = sch_running_task()};
    if (!task->op)
        return;
    struct race_work work = {.moment = sch_op_moment(task->op), .name = name};
    if (calls)
        work.calls = *calls;
    task->work = race_work_add(&work);
}

static bool task_follows(struct crt_watched *task, uint32_t work)
{
    if (work == 0 || work == task->work || work == task->ordered)
        return true;
    if (!is_before(task->op, work))
        return false;
    task->ordered = work;
    return true;
}

/* At the calls of the copy; of one in a graph, at the kernel's place. */
static void add_finding(struct crt_watched *task, uint64_t place, bool is_write, uint32_t other,
                        const struct race_access *access)
{
    const struct race_work *work = race_work_get(task->work);
    const struct race_work *second = race_work_get(other);
    bool is_host = work->is_host || second->is_host;
    char what[64];
    char who[CRT_WHERE_BYTES];
    char where[2 * CRT_WHERE_BYTES];
    uint64_t address = crt_race_memory.begin + place;
    crt_race_describe(other, access, who, sizeof who);
    if (work->is_host)
        snprintf(what, sizeof what, "%s of global memory by the host", is_write ? "write" : "read");
    else
        snprintf(what, sizeof what, "%s by a %s of global memory", is_write ? "write" : "read",
                 work->name);
    snprintf(where, sizeof where, "address 0x%" PRIx64 " was %s by %s", address,
             access->flags & RACE_WRITES ? "written" : "read", who);
    struct crt_finding finding = {.kind = is_host ? CRT_FINDING_HOST_RACE : CRT_FINDING_STREAM_RACE,
                                  .access = what,
                                  .where = where,
                                  .verb = is_write ? "write" : "read",
                                  .space = "global",
                                  .address = address};
    bool has_kernel =
        !is_host && work->calls.count == 0 && second->kernel && crt_kernel_is_valid(second->kernel);
    if (has_kernel) {
        finding.kernel = crt_kernel_name(second->kernel);
        finding.ptx_line = access->line;
    }
    if (has_kernel && crt_finding_again(&finding))
        return;
    if (has_kernel)
        crt_finding_add(&finding);
    else
        crt_call_finding_add(&finding, &work->calls);
}

static uint8_t flags_of(const struct crt_watched *task, bool is_write)
{
    return (uint8_t)((is_write ? RACE_WRITES : 0) | (task->op ? 0 : RACE_HOST));
}

/* True: it races, which has been told. */
static bool access_word(struct crt_watched *task, uint64_t place, unsigned from, unsigned end,
                        bool is_write)
{
    struct race_access access = {.bytes = (uint8_t)((1u << end) - (1u << from)),
                                 .flags = flags_of(task, is_write)};
    struct race_access found = {0};
    struct race_cell *cell = crt_race_lock_cell(place);
    uint32_t other = cell->run;
    const struct race_access *race = NULL;
    if (!task_follows(task, other) && (race = race_cell_conflict(cell, &access)) != NULL)
        found = *race;
    if (other != task->work)
        *cell = (struct race_cell){.run = task->work};
    if (is_write)
        cell->write = access;
    else
        cell->reads[0] = access;
    crt_race_unlock(place);
    if (race)
        add_finding(task, place + from, is_write, other, &found);
    return race != NULL;
}

static bool access_part(struct crt_watched *task, uint64_t place, uint64_t bytes, bool is_write)
{
    struct page *page = page_of(place);
    uint32_t users = get(&page->users);
    if (!(users & MANY))
        note_user(page, task->work, task_follows(task, users));
    bool is_race = false;
    while (bytes > 0 && !is_race) {
        unsigned from = place % RACE_CELL_BYTES;
        unsigned end = bytes < RACE_CELL_BYTES - from ? from + (unsigned)bytes : RACE_CELL_BYTES;
        is_race = access_word(task, place - from, from, end, is_write);
        place += end - from;
        bytes -= end - from;
    }
    return is_race;
}

/* As access_word, of all cells of a page that somebody has used who is in no order with the task;
 * they stay as they are. */
static bool look_at_cells(struct crt_watched *task, uint64_t place, bool is_write)
{
    const struct race_access access = {.bytes = (1u << RACE_CELL_BYTES) - 1,
                                       .flags = flags_of(task, is_write)};
    uint32_t users = get(&page_of(place)->users);
    if (!(users & MANY) && task_follows(task, users))
        return false;
    for (uint64_t i = 0; i < PAGE_CELLS; i++) {
        struct race_cell cell = look_at_cell(place + i * RACE_CELL_BYTES);
        const struct race_access *race =
            task_follows(task, cell.run) ? NULL : race_cell_conflict(&cell, &access);
        if (race) {
            add_finding(task, place + i * RACE_CELL_BYTES, is_write, cell.run, race);
            return true;
        }
    }
    return false;
}

/* Another copy or fill of the page. */
static bool look_at_page(struct crt_watched *task, uint64_t place, struct page *page, bool is_write)
{
    uint32_t write = get(&page->write);
    uint32_t read = is_write ? get(&page->read) : 0;
    uint32_t other = !task_follows(task, write) ? write : !task_follows(task, read) ? read : 0;
    if (other != 0)
        add_finding(task, place, is_write, other,
                    &(struct race_access){.flags = other == write ? RACE_WRITES : 0});
    return other != 0;
}

static bool access_page(struct crt_watched *task, uint64_t place, bool is_write)
{
    struct page *page = page_of(place);
    bool is_race =
        look_at_page(task, place, page, is_write) || look_at_cells(task, place, is_write);
    set(is_write ? &page->write : &page->read, task->work);
    return is_race;
}

/* The first race of a copy is enough. */
static void access_memory(struct crt_watched *task, uintptr_t base, size_t bytes, bool is_write)
{
    uint64_t place;
    if (task->work == 0 || !crt_race_place(base, bytes, &place))
        return;
    bool is_race = false;
    while (bytes > 0) {
        uint64_t left = PAGE_BYTES - place % PAGE_BYTES;
        uint64_t here = bytes < left ? bytes : left;
        if (is_race)
            return;
        if (here == PAGE_BYTES)
            is_race = access_page(task, place, is_write);
        else
            is_race = look_at_page(task, place, page_of(place), is_write) ||
                      access_part(task, place, here, is_write);
        place += here;
        bytes -= here;
    }
}

/* ---- the host ---- */

/* What the launch has told it counts as all that the launch does. */
static void listen(struct page *page, uint32_t work)
{
    uint32_t tells = get(&page->tells);
    set(&page->host, work);
    if (tells != 0 && !is_before(NULL, tells))
        race_work_meet_host(tells);
}

void crt_race_access_host(uint32_t work, uintptr_t base, size_t bytes, bool is_write)
{
    struct crt_watched host = {.work = work};
    uint64_t place;
    if (bytes == 0 || !crt_race_place(base, bytes, &place))
        return;
    for (uint64_t page = place / PAGE_BYTES; page <= (place + bytes - 1) / PAGE_BYTES; page++)
        listen(&global.pages[page], work);
    access_memory(&host, base, bytes, is_write);
}

/* ---- memory that is allocated ---- */

static void forget(uintptr_t base, size_t bytes)
{
    uint64_t place;
    if (!crt_race_place(base, bytes, &place))
        return;
    uint64_t first = place / PAGE_BYTES; /* of neighbours there less may be found */
    uint64_t end = (place + bytes + PAGE_BYTES - 1) / PAGE_BYTES;
    for (size_t i = 0; i < PARTS; i++) {
        size_t page_bytes = PAGE_BYTES / RACE_STRIP_BYTES * parts[i].bytes;
        madvise((char *)*part_of(i) + first * page_bytes, (end - first) * page_bytes,
                MADV_DONTNEED);
    }
    for (uint64_t i = first; i < end; i++) {
        set(&global.pages[i].users, 0);
        set(&global.pages[i].write, 0);
        set(&global.pages[i].read, 0);
        set(&global.pages[i].host, 0);
        set(&global.pages[i].tells, 0);
    }
}

void crt_race_watch(void)
{
    static const struct crt_access_watcher watcher = {begin_task, access_memory, forget};
    sch_keep_pasts();
    crt_set_access_watcher(&watcher);
    crt_race_watch_host();
}

bool crt_race_last_write(uint64_t address, uint64_t run, struct crt_last_write *write)
{
    uint64_t place;
    if (!crt_race_place(address, 1, &place))
        return false;
    struct race_cell found = look_at_cell(place);
    const struct race_work *work = race_work_get(found.run);
    if (!work || work->launch != run || found.write.bytes == 0)
        return false;
    *write = (struct crt_last_write){
        .block = found.write.block, .thread = found.write.thread, .line = found.write.line};
    return true;
}
