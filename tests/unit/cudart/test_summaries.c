/* SPDX-License-Identifier: Apache-2.0
 *
 * Summaries of modules: what a process does without when another one has known the module, and what
 * is wrong with a summary is found.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/cache.h"
#include "cache/directory.h"
#include "cudart/core/code/code_cache.h"
#include "cudart/core/code/module.h"
#include "cudart/core/code/summary.h"
#include "driver_fixture.h"
#include "peer_process.h"

#define PTX(operation)                                                                             \
    ".version 9.0\n.target sm_75\n.address_size 64\n"                                              \
    ".visible .global .align 4 .u32 base = 7;\n"                                                   \
    ".visible .entry k(.param .u64 out, .param .u32 n) {\n"                                        \
    " .reg .b32 %r<8>; .reg .b64 %d<4>; ld.param.u64 %d1, [out]; ld.param.u32 %r1, [n];\n"         \
    " mov.u32 %r2, %tid.x; mul.wide.u32 %d2, %r2, 4; add.u64 %d3, %d1, %d2;\n"                     \
    " ld.global.u32 %r4, [base]; " operation " %r3, %r1, %r2; add.u32 %r3, %r3, %r4;\n"            \
    " st.global.u32 [%d3], %r3; ret; }\n"

static const char ptx[] = PTX("mul.lo.u32");
static const char other_ptx[] = PTX("add.u32");

static char directory[] = "/tmp/ptxrun-summaries-XXXXXX";

static void use_directory(void)
{
    cr_assert_not_null(mkdtemp(directory));
    setenv("PTXRUN_CACHE", "on", 1);
    setenv("PTXRUN_CACHE_DIR", directory, 1);
    setenv("PTXRUN_LOG", "error", 1);
}

static void remove_directory(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_expect_eq(system(command), 0);
}

/* Loads a text from memory that is another text's right after. */
static CUmodule load(const char *text)
{
    CUmodule module;
    make_context();
    char *image = strdup(text);
    PEER_OK(cuModuleLoadData(&module, image));
    memset(image, 'x', strlen(text));
    free(image);
    return module;
}

static CUresult launch(CUmodule module, unsigned threads)
{
    CUfunction function;
    CUdeviceptr out;
    unsigned n = 3;
    unsigned got[64];
    void *params[] = {&out, &n};
    PEER_OK(cuModuleGetFunction(&function, module, "k"));
    PEER_OK(cuMemAlloc_v2(&out, sizeof got));
    CUresult result = cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, NULL, params, NULL);
    if (result != CRT_SUCCESS)
        return result;
    PEER_OK(cuMemcpyDtoH_v2(got, out, threads * sizeof got[0]));
    for (unsigned i = 0; i < threads; i++)
        PEER_CHECK(got[i] == i * n + 7);
    return CRT_SUCCESS;
}

static void tell_whether_parsed(int socket, CUmodule module)
{
    tell(socket, &(bool){module->library->ptx != NULL}, sizeof(bool));
}

static bool is_parsed_by(void (*run)(int socket))
{
    bool is_parsed = false;
    struct peer peer = start_peer(run);
    cr_expect(hear(peer.socket, &is_parsed, sizeof is_parsed));
    expect_peer_succeeds(&peer);
    return is_parsed;
}

/* ---- hits ---- */

static void launch_small(int socket)
{
    CUmodule module = load(ptx);
    PEER_OK(launch(module, 32));
    tell_whether_parsed(socket, module);
}

static void launch_large(int socket)
{
    CUmodule module = load(ptx);
    PEER_OK(launch(module, 64));
    tell_whether_parsed(socket, module);
}

static void check_only(int socket)
{
    CUfunction function;
    CUmodule module = load(ptx);
    PEER_OK(cuModuleGetFunction(&function, module, "k"));
    PEER_OK(cuFuncLoad(function));
    tell_whether_parsed(socket, module);
}

Test(summaries, of_a_known_module_replace_parsing, .init = use_directory, .fini = remove_directory)
{
    cr_expect(is_parsed_by(launch_small));
    cr_expect_not(is_parsed_by(launch_small));
}

Test(summaries, let_a_module_be_parsed_when_its_image_has_gone, .init = use_directory,
     .fini = remove_directory)
{
    cr_expect(is_parsed_by(launch_small));
    cr_expect(is_parsed_by(launch_large)); /* another variant */
    cr_expect(is_parsed_by(check_only));
    cr_expect_not(is_parsed_by(check_only));
    cr_expect_not(is_parsed_by(launch_large));
}

/* ---- what is wrong with them ---- */

static struct ptx_source *open_source(const char *text)
{
    struct ptx_source *source;
    PEER_CHECK(ptx_source_open(text, strlen(text), 75, "test", &source, NULL) == PXR_OK);
    return source;
}

static void put_summary(const char *text, const void *bytes, size_t count)
{
    struct cache_key key;
    struct ptx_source *source = open_source(text);
    PEER_OK(cuInit(0));
    PEER_CHECK(crt_summary_key(source, &key));
    PEER_CHECK(cache_put(crt_code_cache(), &key, bytes, count));
    ptx_source_close(source);
}

static void put_summary_of_other(const char *text, const char *other)
{
    uint8_t *bytes;
    size_t count;
    struct ptx_module *module;
    struct ptx_source *source = open_source(other);
    PEER_CHECK(ptx_source_parse(source, &module, NULL) == PXR_OK);
    PEER_CHECK(ptx_outline_write(module, "test", crt_kernel_digest, &bytes, &count, NULL) ==
               PXR_OK);
    put_summary(text, bytes, count);
    free(bytes);
    ptx_module_destroy(module);
    ptx_source_close(source);
}

static void launch_with_the_summary_of_other_code(int socket)
{
    put_summary_of_other(ptx, other_ptx);
    CUmodule module = load(ptx);
    PEER_CHECK(launch(module, 32) != CRT_SUCCESS);
    tell_whether_parsed(socket, module);
}

static void launch_with_the_summary_of_other_kernels(int socket)
{
    CUfunction function;
    put_summary_of_other(ptx, ".version 9.0\n.target sm_75\n.address_size 64\n"
                              ".func f() { ret; }\n.visible .entry l() { ret; }\n");
    CUmodule module = load(ptx);
    PEER_CHECK(cuModuleGetFunction(&function, module, "k") == CRT_NOT_FOUND);
    PEER_OK(cuModuleGetFunction(&function, module, "l"));
    PEER_CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) != CRT_SUCCESS);
    tell_whether_parsed(socket, module);
}

/* Only who may write in the directory can do this: no results then, rather than wrong ones. */
Test(summaries, of_other_modules_run_nothing, .init = use_directory, .fini = remove_directory)
{
    cr_expect(is_parsed_by(launch_with_the_summary_of_other_code));
    cr_expect(is_parsed_by(launch_with_the_summary_of_other_kernels));
}

static void launch_with_a_senseless_summary(int socket)
{
    put_summary(ptx, "none", 4);
    CUmodule module = load(ptx);
    PEER_OK(launch(module, 32));
    tell_whether_parsed(socket, module);
}

Test(summaries, that_make_no_sense_are_replaced, .init = use_directory, .fini = remove_directory)
{
    cr_expect(is_parsed_by(launch_with_a_senseless_summary));
    cr_expect_not(is_parsed_by(launch_small));
}

static void entry_path(const struct ptx_source *source, char path[PATH_MAX])
{
    struct cache_key key;
    PEER_CHECK(crt_summary_key(source, &key));
    struct cache_place place = cache_place_of(&key);
    snprintf(path, PATH_MAX, "%s/%s/%s", directory, place.folder, place.name);
}

/* Returns whether the module had to be parsed. */
static bool find(const struct ptx_source *source)
{
    struct ptx_outline *outline;
    struct ptx_module *module;
    PEER_CHECK(crt_summary_find(source, "test", &outline, &module, NULL) == PXR_OK);
    PEER_CHECK(outline->kernel_count == 1 && outline->var_count == 1);
    PEER_CHECK(strcmp(outline->kernels[0].head.name, "k") == 0);
    bool is_parsed = module != NULL;
    ptx_outline_destroy(outline);
    ptx_module_destroy(module);
    return is_parsed;
}

static void flip(const char *path, off_t at)
{
    uint8_t byte;
    int fd = open(path, O_RDWR);
    PEER_CHECK(pread(fd, &byte, 1, at) == 1);
    byte ^= 0x5a;
    PEER_CHECK(pwrite(fd, &byte, 1, at) == 1);
    close(fd);
}

static void flip_every_byte(int socket)
{
    char path[PATH_MAX];
    struct stat status;
    struct ptx_source *source = open_source(ptx);
    PEER_OK(cuInit(0));
    PEER_CHECK(find(source));
    PEER_CHECK(!find(source));
    entry_path(source, path);
    PEER_CHECK(stat(path, &status) == 0);
    for (off_t at = 0; at < status.st_size; at++) {
        flip(path, at);
        PEER_CHECK(find(source));
        PEER_CHECK(!find(source)); /* it has been put anew */
    }
    ptx_source_close(source);
    tell(socket, &(bool){true}, sizeof(bool));
}

Test(summaries, with_any_byte_changed_are_misses, .init = use_directory, .fini = remove_directory)
{
    cr_expect(is_parsed_by(flip_every_byte));
}

/* ---- modules with errors ---- */

static void load_broken(int socket)
{
    CUmodule module;
    char log[1024] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    make_context();
    PEER_CHECK(cuModuleLoadDataEx(&module,
                                  ".version 9.0\n.target sm_75\n.address_size 64\n"
                                  ".visible .entry k() { frobnicate.u32; }\n",
                                  2, options, values) == CRT_INVALID_PTX);
    PEER_CHECK(strstr(log, "frobnicate") != NULL);
    tell(socket, &(bool){true}, sizeof(bool));
}

static int entry_count(void)
{
    int count = 0;
    DIR *folder = opendir(directory);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        count += strlen(entry->d_name) == CACHE_FOLDER_BYTES - 1 && entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return count;
}

Test(summaries, are_not_made_of_modules_with_errors, .init = use_directory,
     .fini = remove_directory)
{
    for (int i = 0; i < 2; i++)
        cr_expect(is_parsed_by(load_broken));
    cr_expect_eq(entry_count(), 0);
}
