/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the relocations of loaded objects as the dynamic linker does.
 */
#include "scheduler/imports.h"

#include <elf.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "scheduler/handlers.h"
#include "scheduler/worker_pool.h"
#include "util/pages.h"

#if defined(__x86_64__)
#define IS_IMPORT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#else
#define IS_IMPORT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#endif

/* How many objects had been loaded at the last walk. An object that another thread is just loading
 * may be seen before the linker fills its tables: every change is followed by two walks. */
static struct {
    atomic_flag is_walking;
    unsigned long long adds;
    unsigned walks_left;
} state = {.is_walking = ATOMIC_FLAG_INIT};

struct table {
    const struct sch_import *imports;
    size_t count;
};

/* Of the caller, and what was added. */
struct walk {
    struct table tables[2];
    unsigned long long adds;
};

static struct table added;

/* The tables that the dynamic section of an object names. */
struct tables {
    uintptr_t base;
    const Elf64_Sym *symbols;
    const char *names;
    const Elf64_Rela *relocs[2]; /* of calls, of data */
    size_t reloc_bytes[2];
    size_t nameless_count; /* number of the latter that come first; in large libraries nearly all */
};

static bool contains(const struct dl_phdr_info *object, uintptr_t address)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const Elf64_Phdr *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD &&
            address - (object->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
            return true;
    }
    return false;
}

/* The linker writes addresses in place of offsets, unless the section is read-only. */
static const void *address_of(uintptr_t base, Elf64_Addr value)
{
    return (const void *)(value < base ? base + value : value);
}

static void read_entry(struct tables *tables, const Elf64_Dyn *entry)
{
    switch (entry->d_tag) {
    case DT_SYMTAB:
        tables->symbols = address_of(tables->base, entry->d_un.d_ptr);
        break;
    case DT_STRTAB:
        tables->names = address_of(tables->base, entry->d_un.d_ptr);
        break;
    case DT_JMPREL:
        tables->relocs[0] = address_of(tables->base, entry->d_un.d_ptr);
        break;
    case DT_PLTRELSZ:
        tables->reloc_bytes[0] = entry->d_un.d_val;
        break;
    case DT_RELA:
        tables->relocs[1] = address_of(tables->base, entry->d_un.d_ptr);
        break;
    case DT_RELASZ:
        tables->reloc_bytes[1] = entry->d_un.d_val;
        break;
    case DT_RELACOUNT:
        tables->nameless_count = entry->d_un.d_val;
        break;
    default:
        break;
    }
}

static bool read_tables(const struct dl_phdr_info *object, struct tables *tables)
{
    *tables = (struct tables){.base = object->dlpi_addr};
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        const Elf64_Dyn *entry =
            (const Elf64_Dyn *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++)
            read_entry(tables, entry);
    }
    return tables->symbols && tables->names;
}

struct store {
    void **slot;
    void *value;
};

/* The sanitizers hold locks of their own around accesses that they check. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static void run_store(void *arg)
{
    const struct store *store = arg;
    *(void *volatile *)store->slot = store->value;
}

/* Most tables are read-only once they are filled. */
static void write_slot(void **slot, void *value)
{
    struct store store = {slot, value};
    if (sch_try(run_store, &store))
        return;
    void *page = (void *)pxr_round_down_to_pages((uintptr_t)slot);
    size_t page_bytes = pxr_page_bytes();
    if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0)
        return;
    run_store(&store);
    mprotect(page, page_bytes, PROT_READ);
}

static void replace_from(const struct table *table, const char *name, void **slot)
{
    for (size_t i = 0; i < table->count; i++) {
        const char *wanted = table->imports[i].name;
        /* Thousands of names, of which hardly one is wanted. */
        if (*name == *wanted && strcmp(name, wanted) == 0 && *slot != table->imports[i].function)
            write_slot(slot, table->imports[i].function);
    }
}

static void replace_import(const struct tables *tables, const Elf64_Rela *reloc,
                           const struct walk *walk)
{
    const Elf64_Sym *symbol = &tables->symbols[ELF64_R_SYM(reloc->r_info)];
    if (!IS_IMPORT(ELF64_R_TYPE(reloc->r_info)) || symbol->st_shndx != SHN_UNDEF)
        return;
    const char *name = tables->names + symbol->st_name;
    void **slot = (void **)(tables->base + reloc->r_offset);
    for (int t = 0; t < 2; t++)
        replace_from(&walk->tables[t], name, slot);
}

static int visit_object(struct dl_phdr_info *object, size_t info_bytes, void *arg)
{
    struct walk *walk = arg;
    struct tables tables;
    (void)info_bytes;
    walk->adds = object->dlpi_adds;
    if (contains(object, (uintptr_t)sch_imports_replace) || !read_tables(object, &tables))
        return 0;
    for (int kind = 0; kind < 2; kind++) {
        size_t count = tables.relocs[kind] ? tables.reloc_bytes[kind] / sizeof(Elf64_Rela) : 0;
        for (size_t i = kind == 1 ? tables.nameless_count : 0; i < count; i++)
            replace_import(&tables, &tables.relocs[kind][i], walk);
    }
    return 0;
}

static int read_adds(struct dl_phdr_info *object, size_t info_bytes, void *arg)
{
    unsigned long long *adds = arg;
    (void)info_bytes;
    *adds = object->dlpi_adds;
    return 1;
}

/* With `is_walking` taken. The application may have blocked the signals that a store raises. */
static void walk_objects(struct walk *walk)
{
    sigset_t open, before;
    sigemptyset(&open);
    sch_handlers_add_signals(&open);
    if (pthread_sigmask(SIG_UNBLOCK, &open, &before) != 0)
        return;
    dl_iterate_phdr(visit_object, walk);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void sch_imports_add(const struct sch_import *imports, size_t count)
{
    added = (struct table){imports, count};
}

void sch_imports_replace(const struct sch_import *imports, size_t count, bool insists)
{
    unsigned long long adds = 0;
    dl_iterate_phdr(read_adds, &adds);
    /* Another thread is at it: no need to wait. */
    if (atomic_flag_test_and_set_explicit(&state.is_walking, memory_order_acquire))
        return;
    if (insists || adds != state.adds)
        state.walks_left = 2;
    if (state.walks_left > 0) {
        struct walk walk = {.tables = {{imports, count}, added}, .adds = adds};
        state.walks_left--;
        walk_objects(&walk);
        state.adds = walk.adds;
    }
    atomic_flag_clear_explicit(&state.is_walking, memory_order_release);
}
