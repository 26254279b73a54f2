/* SPDX-License-Identifier: Apache-2.0
 *
 * A program of the build: in which order functions of the compile library are first called.
 *   first_calls LIBRARY LIST FILE.ptx...
 * writes their names to LIST. The library is linked again with its functions in that order: those
 * that open it and make quick code are 6 of 35 MB of text, and a process pays for each 64 KB in
 * which one of them lies with a page fault.
 *
 * A copy of the library has a trap in place of the first instruction of each function. A child
 * opens it and compiles the kernels: quick code of all files, then the best code of the first. Each
 * trap stops it, its parent writes the name down and puts the instruction back.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jit/jit.h"

#if defined(__x86_64__)
static const uint8_t trap[] = {0xcc}; /* int3 */
#define PC       rip
#define PC_BYTES 1 /* by how much the program counter is behind the trap */
#else
static const uint8_t trap[] = {0x00, 0x00, 0x20, 0xd4}; /* brk #0 */
#define PC       pc
#define PC_BYTES 0
#endif

struct function {
    uint64_t address; /* as the file has it */
    const uint8_t *code;
    const char *name;
    bool is_called;
};

struct library {
    const uint8_t *bytes;
    size_t size_bytes;
    struct function *functions; /* by address, each address once */
    size_t count;
};

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- the library and its copy ---- */

static const void *at(const struct library *library, uint64_t offset)
{
    return library->bytes + offset;
}

static const Elf64_Shdr *sections_of(const struct library *library)
{
    return at(library, ((const Elf64_Ehdr *)library->bytes)->e_shoff);
}

static int by_address(const void *a, const void *b)
{
    const struct function *left = a, *right = b;
    return (left->address > right->address) - (left->address < right->address);
}

static void drop_aliases(struct library *library)
{
    size_t kept = 0;
    for (size_t i = 0; i < library->count; i++)
        if (kept == 0 || library->functions[kept - 1].address != library->functions[i].address)
            library->functions[kept++] = library->functions[i];
    library->count = kept;
}

static void take_functions(struct library *library, const Elf64_Shdr *table)
{
    const Elf64_Shdr *sections = sections_of(library);
    const Elf64_Sym *symbols = at(library, table->sh_offset);
    const char *names = at(library, sections[table->sh_link].sh_offset);
    size_t count = table->sh_size / sizeof *symbols;
    library->functions = calloc(count, sizeof *library->functions);
    if (!library->functions)
        fail("first_calls");
    for (size_t i = 0; i < count; i++) {
        const Elf64_Sym *symbol = &symbols[i];
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_size < sizeof trap ||
            symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE)
            continue;
        const Elf64_Shdr *section = &sections[symbol->st_shndx];
        library->functions[library->count++] = (struct function){
            .address = symbol->st_value,
            .code = at(library, section->sh_offset + symbol->st_value - section->sh_addr),
            .name = names + symbol->st_name};
    }
    qsort(library->functions, library->count, sizeof *library->functions, by_address);
    drop_aliases(library);
}

static void read_library(struct library *library, const char *path)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0)
        fail(path);
    library->size_bytes = (size_t)status.st_size;
    library->bytes = mmap(NULL, library->size_bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (library->bytes == MAP_FAILED)
        fail(path);
    close(file);
    const Elf64_Ehdr *header = at(library, 0);
    for (unsigned i = 0; i < header->e_shnum; i++)
        if (sections_of(library)[i].sh_type == SHT_SYMTAB)
            take_functions(library, &sections_of(library)[i]);
}

static void write_copy(const struct library *library, const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    if (file < 0 || ftruncate(file, (off_t)library->size_bytes) != 0)
        fail(path);
    uint8_t *copy = mmap(NULL, library->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (copy == MAP_FAILED)
        fail(path);
    memcpy(copy, library->bytes, library->size_bytes);
    for (size_t i = 0; i < library->count; i++)
        memcpy(copy + (library->functions[i].code - library->bytes), trap, sizeof trap);
    munmap(copy, library->size_bytes);
    close(file);
}

/* ---- the child: opens the copy and compiles ---- */

static struct ptx_module *read_module(const char *path)
{
    static char text[1 << 20];
    struct pxr_error err = {0};
    struct ptx_module *module = NULL;
    FILE *file = fopen(path, "rb");
    size_t len = file ? fread(text, 1, sizeof text, file) : 0;
    if (!file || ptx_parse((struct pxr_str){text, len}, path, &module, &err) != PXR_OK)
        fail(path);
    fclose(file);
    return module;
}

static void compile(const struct jit_compiler *compiler, const char *path, bool is_quick)
{
    struct ptx_module *module = read_module(path);
    for (uint32_t i = 0; i < module->func_count; i++) {
        const struct ptx_func *kernel = module->funcs[i];
        struct ptx_kernel_layout layout;
        struct pxr_error err = {0};
        if (!kernel->is_entry || !kernel->has_body ||
            ptx_layout_kernel(module, kernel, &layout, &err) != PXR_OK)
            continue;
        struct jit_request request = {
            .module = module,
            .kernel = kernel,
            .layout = &layout,
            .variant = {.collapse = PXR_COLLAPSE_AUTO, .is_quick = is_quick}};
        struct jit_object object = {0};
        if (compiler->compile(&request, &object, &err) != PXR_OK)
            fprintf(stderr, "first_calls: %s\n", err.message);
        jit_object_fini(&object);
        ptx_layout_fini(&layout);
    }
    ptx_module_destroy(module);
}

static void open_and_compile(const char *path, char **files, int count)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    jit_compiler_entry_fn entry =
        library ? (jit_compiler_entry_fn)(uintptr_t)dlsym(library, JIT_COMPILER_ENTRY) : NULL;
    if (!entry)
        fail(path);
    for (int i = 0; i < count; i++)
        compile(entry(), files[i], true);
    compile(entry(), files[0], false);
}

/* ---- the parent: writes down what the child calls ---- */

/* Where the child has the library; its first trap comes from there. */
static uint64_t find_base(pid_t child, const char *path)
{
    char name[64], line[4096];
    uint64_t base = 0;
    snprintf(name, sizeof name, "/proc/%d/maps", (int)child);
    FILE *maps = fopen(name, "r");
    while (maps && base == 0 && fgets(line, sizeof line, maps))
        if (strstr(line, path))
            base = strtoull(line, NULL, 16);
    if (maps)
        fclose(maps);
    return base;
}

struct recorder {
    const struct library *library;
    const char *path; /* of the copy */
    pid_t child;
    int memory; /* the child's */
    uint64_t base;
    FILE *list;
};

/* A thread has stopped at a trap of the copy: it goes on as if there had been none. */
static bool pass_trap(struct recorder *recorder, pid_t thread)
{
    struct user_regs_struct registers;
    struct iovec all = {&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &all) != 0)
        return false;
    if (recorder->base == 0)
        recorder->base = find_base(recorder->child, recorder->path);
    struct function key = {.address = registers.PC - PC_BYTES - recorder->base};
    struct function *function = bsearch(&key, recorder->library->functions,
                                        recorder->library->count, sizeof key, by_address);
    if (!function)
        return false;
    if (!function->is_called) {
        fprintf(recorder->list, "%s\n", function->name);
        function->is_called = true;
        if (pwrite(recorder->memory, function->code, sizeof trap,
                   (off_t)(recorder->base + function->address)) != sizeof trap)
            return false;
    }
    registers.PC = recorder->base + function->address;
    return ptrace(PTRACE_SETREGSET, thread, (void *)NT_PRSTATUS, &all) == 0;
}

/* The child's exit status. */
static int record(struct recorder *recorder)
{
    int status, result = 1;
    pid_t thread;
    while ((thread = waitpid(-1, &status, __WALL)) > 0) {
        if (!WIFSTOPPED(status)) {
            if (thread == recorder->child)
                result = status;
            continue;
        }
        int signal = WSTOPSIG(status);
        bool is_ours = signal == SIGSTOP || status >> 16 != 0 ||
                       (signal == SIGTRAP && pass_trap(recorder, thread));
        ptrace(PTRACE_CONT, thread, NULL, (void *)(intptr_t)(is_ours ? 0 : signal));
    }
    return result;
}

static pid_t start_child(const char *path, char **files, int count)
{
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child > 0)
        return child;
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        fail("ptrace");
    raise(SIGSTOP);
    open_and_compile(path, files, count);
    _exit(0);
}

/* LLVM's order of work depends on addresses here and there; the same build makes the same list, if
 * it may. */
static void fix_addresses(char **argv)
{
    int now = personality(0xffffffff);
    if (now >= 0 && !(now & ADDR_NO_RANDOMIZE) && personality(now | ADDR_NO_RANDOMIZE) >= 0)
        execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    fix_addresses(argv);
    char copy[4096], memory[64];
    struct library library = {0};
    struct recorder recorder = {.library = &library, .path = copy};
    snprintf(copy, sizeof copy, "%s.traps", argv[2]);
    read_library(&library, argv[1]);
    write_copy(&library, copy);
    recorder.list = fopen(argv[2], "w");
    if (!recorder.list)
        fail(argv[2]);
    recorder.child = start_child(copy, argv + 3, argc - 3);
    snprintf(memory, sizeof memory, "/proc/%d/mem", (int)recorder.child);
    recorder.memory = open(memory, O_RDWR | O_CLOEXEC);
    waitpid(recorder.child, NULL, 0);
    ptrace(PTRACE_SETOPTIONS, recorder.child, NULL,
           (void *)(PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL));
    ptrace(PTRACE_CONT, recorder.child, NULL, NULL);
    bool is_whole = record(&recorder) == 0;
    unlink(copy);
    if (!is_whole)
        fprintf(stderr, "first_calls: not all could be recorded; the rest keeps its order\n");
    return fclose(recorder.list) != 0;
}
