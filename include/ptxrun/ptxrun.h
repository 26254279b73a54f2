/* SPDX-License-Identifier: Apache-2.0
 *
 * ptxrun as a library: run PTX kernels on the CPU, on ordinary host memory.
 *
 *     struct ptxrun_error err;
 *     struct ptxrun_module *module;
 *     struct ptxrun_kernel *kernel;
 *     float *data = …;
 *     int n = …;
 *     struct ptxrun_launch launch = {.grid = {(n + 255) / 256, 1, 1}, .block = {256, 1, 1}};
 *     if (ptxrun_load_file("scale.ptx", &module, &err) ||
 *         ptxrun_find_kernel(module, "scale", &kernel, &err) ||
 *         ptxrun_launch(kernel, &launch, (void *[]){&data, &n}, 2, &err))
 *         fprintf(stderr, "%s\n", err.message);
 *     ptxrun_unload(module);
 *
 * Flags: pkg-config --cflags --libs ptxrun; in CMake, find_package(ptxrun) and ptxrun::ptxrun.
 * The library lies in <libdir>/ptxrun, out of the loader's default path.
 *
 * Functions return PTXRUN_OK (0) or an error; err may be NULL. All functions may be called from
 * any thread; one module may be used by several threads at once.
 */
#ifndef PTXRUN_PTXRUN_H
#define PTXRUN_PTXRUN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ptxrun_status {
    PTXRUN_OK = 0,
    PTXRUN_OUT_OF_MEMORY,
    PTXRUN_INVALID_ARGUMENT, /* NULL, wrong number of arguments, empty grid or block */
    PTXRUN_NOT_FOUND,        /* no such file, kernel or variable */
    PTXRUN_BAD_INPUT,        /* PTX or fat binary that is not well formed */
    PTXRUN_UNSUPPORTED,      /* an instruction that is not implemented, or an image without PTX */
    PTXRUN_OUT_OF_RESOURCES, /* more threads or shared memory than a block can have */
    PTXRUN_KERNEL_FAULT,     /* the kernel trapped, touched a bad address, deadlocked, … */
    PTXRUN_INTERNAL          /* compiler library missing, or a defect of ptxrun */
};

#define PTXRUN_MESSAGE_BYTES 1024

struct ptxrun_error {
    enum ptxrun_status status;
    int ptx_line; /* 1-based; 0 if none applies */
    char message[PTXRUN_MESSAGE_BYTES];
};

struct ptxrun_module;
struct ptxrun_kernel;

/* Version of the library, "major.minor.patch". */
const char *ptxrun_version(void);

/* PTX text of len bytes (copied), or a file with PTX text, a fat binary, an executable or a shared
 * object: the first module with PTX in it. On success the caller owns *module. */
enum ptxrun_status ptxrun_load_text(const char *ptx, size_t len, struct ptxrun_module **module,
                                    struct ptxrun_error *err);
enum ptxrun_status ptxrun_load_file(const char *path, struct ptxrun_module **module,
                                    struct ptxrun_error *err);

/* No kernel of the module may be running. Kernels found in it are gone. NULL is allowed. */
void ptxrun_unload(struct ptxrun_module *module);

/* The kernel belongs to the module. Translates it, so that what is not supported is said here; code
 * is made when a launch needs it. */
enum ptxrun_status ptxrun_find_kernel(struct ptxrun_module *module, const char *name,
                                      struct ptxrun_kernel **kernel, struct ptxrun_error *err);

/* The n-th kernel's name, in the order of the text; NULL when there are no more. */
const char *ptxrun_kernel_name(const struct ptxrun_module *module, size_t n);

size_t ptxrun_param_count(const struct ptxrun_kernel *kernel);

/* Size of the n-th parameter in bytes; 0 when there is none. */
size_t ptxrun_param_bytes(const struct ptxrun_kernel *kernel, size_t n);

/* Its type as the PTX has it, without the dot: "u64", "f32", "b32"; "bytes" for an array, which is
 * a struct in the source; NULL when there is none. */
const char *ptxrun_param_type(const struct ptxrun_kernel *kernel, size_t n);

/* Memory of a .global or .const variable; it lives as long as the module. */
enum ptxrun_status ptxrun_find_variable(struct ptxrun_module *module, const char *name,
                                        void **address, size_t *size_bytes,
                                        struct ptxrun_error *err);

struct ptxrun_launch {
    uint32_t grid[3];  /* blocks */
    uint32_t block[3]; /* threads of a block: 1 to 1024 */
    uint32_t dynamic_shared_bytes;
};

/* Runs the grid on all cores and returns when it has finished. args[i] points at the value of the
 * i-th parameter; pointers among the values are ordinary host pointers. After a kernel fault the
 * module stays usable; what the kernel had written remains. */
enum ptxrun_status ptxrun_launch(struct ptxrun_kernel *kernel, const struct ptxrun_launch *launch,
                                 void *const *args, size_t arg_count, struct ptxrun_error *err);

/* The call of the gpuocelot shim: runs the first kernel of the NUL-terminated text. args[i] *is*
 * the i-th value: a pointer, or an integer cast to one (its low bytes are used). lx, ly, lz:
 * threads of a block; gx, gy, gz: blocks. Compiled kernels are kept for later calls with the same
 * text. Returns 0 on success, else an enum ptxrun_status, and prints the reason to standard
 * error. */
int ptx_run(const char *ptx, int nargs, void *const *args, int lx, int ly, int lz, int gx, int gy,
            int gz);

#ifdef __cplusplus
}
#endif

#endif
