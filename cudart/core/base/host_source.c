/* SPDX-License-Identifier: Apache-2.0
 *
 * libdw is no part of what builds or starts programs: it is looked for when something has been
 * found. So its functions are declared here, as far as they are used, by elfutils' manual; their
 * ABI has versions of its own and has not changed since elfutils 0.142.
 */
#include "cudart/core/base/host_source.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HASH_NONFATAL_OOM            1
#define uthash_nonfatal_oom(element) (is_added = false)
#include <uthash.h>

#include "util/readable_name.h"

/* ---- libdw ---- */

struct dwfl;
struct dwfl_module;
struct dwfl_line;
struct dwarf_files;

struct dwfl_callbacks {
    void *find_elf;
    void *find_debuginfo;
    void *section_address;
    char **debuginfo_path;
};

struct dwarf_die {
    void *address;
    void *unit;
    void *abbreviation;
    long padding;
};

struct dwarf_attribute {
    unsigned code;
    unsigned form;
    unsigned char *value;
    void *unit;
};

#define DW_TAG_INLINED_SUBROUTINE 0x1d
#define DW_AT_CALL_FILE           0x58
#define DW_AT_CALL_LINE           0x59

/* LIBDW(result, name, parameters) */
#define LIBDW_FUNCTIONS(LIBDW)                                                                     \
    LIBDW(struct dwfl *, dwfl_begin, (const struct dwfl_callbacks *))                              \
    LIBDW(int, dwfl_linux_proc_report, (struct dwfl *, pid_t))                                     \
    LIBDW(int, dwfl_report_end, (struct dwfl *, void *, void *))                                   \
    LIBDW(void, dwfl_end, (struct dwfl *))                                                         \
    LIBDW(struct dwfl_module *, dwfl_addrmodule, (struct dwfl *, uint64_t))                        \
    LIBDW(const char *, dwfl_module_addrname, (struct dwfl_module *, uint64_t))                    \
    LIBDW(struct dwfl_line *, dwfl_module_getsrc, (struct dwfl_module *, uint64_t))                \
    LIBDW(const char *, dwfl_lineinfo,                                                             \
          (struct dwfl_line *, uint64_t *, int *, int *, uint64_t *, uint64_t *))                  \
    LIBDW(struct dwarf_die *, dwfl_module_addrdie, (struct dwfl_module *, uint64_t, uint64_t *))   \
    LIBDW(int, dwarf_getscopes, (struct dwarf_die *, uint64_t, struct dwarf_die **))               \
    LIBDW(int, dwarf_tag, (struct dwarf_die *))                                                    \
    LIBDW(const char *, dwarf_diename, (struct dwarf_die *))                                       \
    LIBDW(struct dwarf_attribute *, dwarf_attr,                                                    \
          (struct dwarf_die *, unsigned, struct dwarf_attribute *))                                \
    LIBDW(int, dwarf_formudata, (struct dwarf_attribute *, uint64_t *))                            \
    LIBDW(int, dwarf_getsrcfiles, (struct dwarf_die *, struct dwarf_files **, size_t *))           \
    LIBDW(const char *, dwarf_filesrc, (struct dwarf_files *, size_t, uint64_t *, uint64_t *))

#define DECLARE(result, name, parameters) result(*name) parameters;

struct known {
    const void *return_address;
    struct crt_host_place place;
    UT_hash_handle hh;
};

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    bool is_opened; /* or could not be */
    bool is_there;
    LIBDW_FUNCTIONS(DECLARE)
    struct dwfl_callbacks callbacks;
    struct dwfl *dwfl;
    struct known *known;
} dw = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool load_locked(void)
{
    if (dw.is_opened)
        return dw.is_there;
    dw.is_opened = true;
    void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    dw.is_there = true;
#define LOAD(result, name, parameters)                                                             \
    dw.name = (result(*) parameters)dlsym(library, #name);                                         \
    dw.is_there = dw.is_there && dw.name;
    LIBDW_FUNCTIONS(LOAD)
#undef LOAD
    /* By the build's number only: other ways would ask servers. */
    dw.callbacks.find_elf = dlsym(library, "dwfl_linux_proc_find_elf");
    dw.callbacks.find_debuginfo = dlsym(library, "dwfl_build_id_find_debuginfo");
    dw.is_there = dw.is_there && dw.callbacks.find_elf && dw.callbacks.find_debuginfo;
    return dw.is_there;
}

/* What is loaded now. */
static void look_at_process_locked(void)
{
    if (dw.dwfl)
        dw.dwfl_end(dw.dwfl);
    dw.dwfl = dw.dwfl_begin(&dw.callbacks);
    if (!dw.dwfl)
        return;
    dw.dwfl_linux_proc_report(dw.dwfl, getpid());
    dw.dwfl_report_end(dw.dwfl, NULL, NULL);
}

static struct dwfl_module *module_locked(uint64_t address)
{
    struct dwfl_module *module = dw.dwfl ? dw.dwfl_addrmodule(dw.dwfl, address) : NULL;
    if (module)
        return module;
    look_at_process_locked();
    return dw.dwfl ? dw.dwfl_addrmodule(dw.dwfl, address) : NULL;
}

/* ---- places ---- */

bool crt_host_file_is_foreign(const char *file)
{
    return strstr(file, "/targets/") || strstr(file, "/cuda/include/") ||
           strncmp(file, "/usr/include/", 13) == 0 || strstr(file, "/tmpxft_");
}

static bool number_of(struct dwarf_die *die, unsigned code, uint64_t *number)
{
    struct dwarf_attribute attribute;
    return dw.dwarf_attr(die, code, &attribute) && dw.dwarf_formudata(&attribute, number) == 0;
}

bool crt_host_is_stub(const char *function)
{
    static const char prefix[] = "__device_stub_";
    return function && strncmp(function, prefix, sizeof prefix - 1) == 0;
}

/* The call of what was inlined there, if that is what the scope is. */
static bool call_of_locked(struct dwarf_die *scope, struct dwarf_files *files, const char **file,
                           uint32_t *line)
{
    uint64_t file_number;
    uint64_t line_number;
    if (dw.dwarf_tag(scope) != DW_TAG_INLINED_SUBROUTINE ||
        !number_of(scope, DW_AT_CALL_FILE, &file_number) ||
        !number_of(scope, DW_AT_CALL_LINE, &line_number))
        return false;
    const char *name = dw.dwarf_filesrc(files, file_number, NULL, NULL);
    if (!name)
        return false;
    *file = name;
    *line = (uint32_t)line_number;
    return true;
}

/* The call of what was inlined at the address, from the innermost outwards, until it is one in the
 * program's own source, and not in what the compiler makes around a kernel's stub. */
static void leave_foreign_locked(struct dwfl_module *module, uint64_t address,
                                 struct crt_host_place *place)
{
    uint64_t bias = 0;
    struct dwarf_files *files;
    struct dwarf_die *scopes = NULL;
    struct dwarf_die *unit = dw.dwfl_module_addrdie(module, address, &bias);
    if (!unit || dw.dwarf_getsrcfiles(unit, &files, &(size_t){0}) != 0)
        return;
    int count = dw.dwarf_getscopes(unit, address - bias, &scopes);
    bool has_left_stub = false;
    for (int i = 0; i < count; i++) {
        const char *file;
        uint32_t line;
        if (!call_of_locked(&scopes[i], files, &file, &line))
            continue;
        if (!place->call_file) {
            place->call_file = file;
            place->call_line = line;
        }
        if (!has_left_stub && !crt_host_file_is_foreign(place->file))
            break;
        has_left_stub = crt_host_is_stub(dw.dwarf_diename(&scopes[i]));
        place->file = file;
        place->line = line;
    }
    free(scopes);
}

static struct crt_host_place look_locked(const void *return_address)
{
    struct crt_host_place place = {0};
    uint64_t address = (uint64_t)(uintptr_t)return_address - 1;
    struct dwfl_module *module = load_locked() ? module_locked(address) : NULL;
    if (!module)
        return place;
    const char *symbol = dw.dwfl_module_addrname(module, address);
    place.function = symbol ? pxr_readable_name(symbol) : NULL;
    int line = 0;
    struct dwfl_line *found = dw.dwfl_module_getsrc(module, address);
    place.file = found ? dw.dwfl_lineinfo(found, NULL, &line, NULL, NULL, NULL) : NULL;
    place.line = (uint32_t)line;
    if (place.file)
        leave_foreign_locked(module, address, &place);
    place.file = place.file ? strdup(place.file) : NULL;
    place.call_file = place.call_file ? strdup(place.call_file) : NULL;
    return place;
}

struct look {
    const void *return_address;
    struct crt_host_place place;
};

static void *run_look(void *arg)
{
    struct look *look = arg;
    look->place = look_locked(look->return_address);
    return NULL;
}

/* Threads of kernels ask, too, whose stacks are as small as kernels need them: libdw gets a stack
 * of its own. */
static struct crt_host_place find_locked(const void *return_address)
{
    pthread_t thread;
    struct look look = {.return_address = return_address};
    if (pthread_create(&thread, NULL, run_look, &look) == 0)
        pthread_join(thread, NULL);
    return look.place;
}

struct crt_host_place crt_host_place_of(const void *return_address)
{
    struct known *known;
    pthread_mutex_lock(&dw.lock);
    HASH_FIND_PTR(dw.known, &return_address, known);
    if (!known) {
        known = malloc(sizeof *known);
        bool is_added = known != NULL;
        if (known) {
            *known = (struct known){.return_address = return_address};
            known->place = find_locked(return_address);
            HASH_ADD_PTR(dw.known, return_address, known);
        }
        if (!is_added) {
            free(known);
            known = NULL;
        }
    }
    struct crt_host_place place = known ? known->place : (struct crt_host_place){0};
    pthread_mutex_unlock(&dw.lock);
    return place;
}
