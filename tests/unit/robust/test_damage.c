/* SPDX-License-Identifier: Apache-2.0
 *
 * Damaged files, images and PTX text give an error that says what and where: never a crash, a hang
 * or memory without bound. Each batch of damaged inputs is tried in a process of its own.
 *
 *   test_damage [--rounds N] [--seed N] [--keep FILE] INPUT...
 *
 * Each INPUT (an executable, .fatbin or .ptx file) is damaged N times. --keep: where to write the
 * input that a process died of.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cudart/core/code/module.h"
#include "cudart/driver/cuda_driver.h"
#include "mutate.h"
#include "ptx/elf.h"
#include "ptx/file.h"
#include "ptx/image.h"
#include "tools/target_program.h"

#define BATCH            20
#define SECONDS_PER_TRY  20
#define MEMORY_LIMIT_KIB (3L << 20)

/* Shared with the process that tries: what it is at. */
struct progress {
    unsigned done;
    unsigned complaints;
    unsigned accepted; /* images without a fault that the front end sees … */
    unsigned compiled; /* … and kernels of theirs made into code */
    size_t len;
    uint8_t bytes[16 << 20];
};

static struct progress *progress;

struct input {
    const char *path;
    void *bytes;
    size_t len;
};

/* An input was refused: somebody has to be able to find out why. */
static void check_message(const struct pxr_error *error)
{
    if (error->status == PXR_COMPILE_FAILED) {
        fprintf(stderr, "the compiler refused what the front end let pass: %s\n", error->message);
        progress->complaints++;
    } else if (strlen(error->message) < 10) {
        fprintf(stderr, "status %d without a message\n", (int)error->status);
        progress->complaints++;
    }
}

/* Everything that happens to a kernel before it runs. */
static void compile_kernel(const struct ptx_module *module, const struct ptx_func *kernel)
{
    struct pxr_error error = {0};
    struct ptx_kernel_layout layout;
    if (ptx_layout_kernel(module, kernel, &layout, &error) != PXR_OK) {
        check_message(&error);
        return;
    }
    struct jit_request request = {.module = module, .kernel = kernel, .layout = &layout};
    struct jit_object object = {0};
    if (jit_compile(&request, &object, &error) != PXR_OK)
        check_message(&error);
    else
        progress->compiled++;
    jit_object_fini(&object);
    ptx_layout_fini(&layout);
}

static void try_module(CUmodule module, unsigned number)
{
    const struct ptx_module *ptx = module->library->ptx;
    uint32_t kernels = module->library->kernel_count;
    if (kernels)
        compile_kernel(ptx, module->library->kernels[number % kernels]->func);
}

/* With a known length: the bytes are all there is, so a sanitizer notices a byte too much. */
static void try_sized_image(const struct mutant *mutant, unsigned number)
{
    struct crt_library *library;
    struct pxr_error error = {0};
    void *copy = malloc(mutant->len ? mutant->len : 1);
    memcpy(copy, mutant->bytes, mutant->len);
    CUcontext ctx;
    CUmodule module;
    if (crt_library_load(copy, mutant->len, false, &library, &error) != CRT_SUCCESS) {
        check_message(&error);
    } else {
        progress->accepted++;
        if (cuCtxGetCurrent(&ctx) == CRT_SUCCESS &&
            crt_module_get(library, ctx, &module) == CRT_SUCCESS)
            try_module(module, number);
        crt_library_unload(library);
    }
    free(copy);
}

/* As a program hands it over: nobody knows the length, behind it is nothing. */
static void try_unsized_image(const struct mutant *mutant)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t room = (mutant->len + 1 + page - 1) / page * page;
    uint8_t *map =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map + room, page, PROT_NONE) != 0)
        abort();
    uint8_t *image = map + (room - mutant->len - 1) / 16 * 16;
    memcpy(image, mutant->bytes, mutant->len);
    CUmodule module;
    if (cuModuleLoadData(&module, image) == CRT_SUCCESS)
        cuModuleUnload(module);
    munmap(map, room + page);
}

static void try_file(const struct mutant *mutant)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", memfd_create("damaged", 0));
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || write(fd, mutant->bytes, mutant->len) != (ssize_t)mutant->len)
        abort();
    struct ptx_file *file;
    struct pxr_error error = {0};
    if (ptx_file_open(path, &file, &error) == PXR_OK) {
        for (uint32_t i = 0; i < file->container_count; i++) {
            const struct ptx_fatbin *fatbin = &file->containers[i].fatbin;
            const struct ptx_fatbin_entry *entry = ptx_fatbin_choose_ptx(fatbin, 75);
            struct ptx_payload payload;
            if (entry && ptx_payload_expand(entry, "damaged", &payload, &error) == PXR_OK)
                ptx_payload_fini(&payload);
        }
        ptx_file_close(file);
    } else {
        check_message(&error);
    }
    /* What the ptxrun command looks at before it starts a program. */
    struct target target;
    if (target_inspect(path, NULL, &target, &error) == PXR_OK)
        target_fini(&target);
    else
        check_message(&error);
    close(fd);
    close(atoi(strrchr(path, '/') + 1));
}

static void show(const struct mutant *mutant)
{
    progress->len = mutant->len < sizeof progress->bytes ? mutant->len : sizeof progress->bytes;
    memcpy(progress->bytes, mutant->bytes, progress->len);
    alarm(SECONDS_PER_TRY);
}

static void try_input(const struct input *input, unsigned number, uint64_t seed)
{
    struct mutant mutant;
    mutant_init(&mutant, input->bytes, input->len, seed);
    bool is_elf = input->len > 4 && memcmp(input->bytes, "\177ELF", 4) == 0;
    bool is_text = !is_elf && !memchr(input->bytes, 0, input->len);
    if (is_text)
        mutant_damage_text(&mutant);
    else
        mutant_damage_bytes(&mutant);
    show(&mutant);
    if (!is_elf) {
        try_sized_image(&mutant, number);
        try_unsized_image(&mutant);
    }
    if (!is_text)
        try_file(&mutant);
    mutant_fini(&mutant);
}

static void try_batch(const struct input *input, unsigned first, unsigned rounds, uint64_t seed)
{
    CUcontext ctx;
    if (cuInit(0) != CRT_SUCCESS || cuDevicePrimaryCtxRetain(&ctx, 0) != CRT_SUCCESS ||
        cuCtxSetCurrent(ctx) != CRT_SUCCESS)
        _exit(2);
    for (unsigned i = first; i < first + BATCH && i < rounds; i++) {
        try_input(input, i, seed * 1000003 + i);
        progress->done++;
    }
}

/* What the process said before it died, or about the compiler. */
static void show_end_of(int log)
{
    char text[6000];
    off_t end = lseek(log, 0, SEEK_END);
    off_t from = end > (off_t)sizeof text ? end - (off_t)sizeof text : 0;
    ssize_t len = pread(log, text, sizeof text, from);
    if (len > 0)
        fwrite(text, 1, (size_t)len, stderr);
}

static void keep_input(const char *path)
{
    FILE *file = path ? fopen(path, "wb") : NULL;
    if (!file)
        return;
    fwrite(progress->bytes, 1, progress->len, file);
    fclose(file);
}

/* The number of failures in the batch. */
static unsigned run_batch(const struct input *input, unsigned first, unsigned rounds, uint64_t seed,
                          const char *keep)
{
    progress->done = 0;
    progress->complaints = 0;
    fflush(NULL);
    int log = memfd_create("log", MFD_CLOEXEC);
    pid_t child = fork();
    if (child == 0) {
        dup2(log, STDERR_FILENO);
        try_batch(input, first, rounds, seed);
        exit(0);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        abort();
    unsigned failures = progress->complaints;
    if (status != 0 || usage.ru_maxrss > MEMORY_LIMIT_KIB) {
        fprintf(stderr, "%s, seed %llu, round %u: status %#x, %ld KiB\n", input->path,
                (unsigned long long)seed, first + progress->done, (unsigned)status,
                usage.ru_maxrss);
        failures++;
    }
    if (failures) {
        show_end_of(log);
        keep_input(keep);
    }
    close(log);
    return failures;
}

static struct input read_input(const char *path)
{
    struct input input = {.path = path};
    FILE *file = fopen(path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size <= 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(2);
    }
    rewind(file);
    input.len = (size_t)size;
    input.bytes = malloc(input.len);
    if (!input.bytes || fread(input.bytes, 1, input.len, file) != input.len)
        abort();
    fclose(file);
    return input;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"rounds", required_argument, NULL, 'r'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"keep", required_argument, NULL, 'k'},
                                            {0}};
    unsigned rounds = BATCH;
    uint64_t seed = 1;
    const char *keep = NULL;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'r')
            rounds = (unsigned)atoi(optarg);
        else if (c == 's')
            seed = strtoull(optarg, NULL, 10);
        else if (c == 'k')
            keep = optarg;
        else
            return 2;
    }
    progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED)
        return 2;
    unsigned failures = 0;
    for (int i = optind; i < argc; i++) {
        struct input input = read_input(argv[i]);
        for (unsigned first = 0; first < rounds; first += BATCH)
            failures += run_batch(&input, first, rounds, seed, keep);
        free(input.bytes);
    }
    printf("%d inputs, %u rounds each: %u images accepted, %u kernels compiled, %u failures\n",
           argc - optind, rounds, progress->accepted, progress->compiled, failures);
    return failures != 0;
}
