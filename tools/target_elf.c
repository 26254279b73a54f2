/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a program's ELF headers, and follows the dynamic loader's search order
 * as far as the question "whose library will it find" needs.
 */
#include "tools/target_elf.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/elf_file.h"
#include "util/vendor.h"

static const char CUDART_PREFIX[] = "libcudart.so.";

#if defined(__x86_64__)
enum { HOST_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { HOST_MACHINE = EM_AARCH64 };
#else
#error "ptxrun runs on x86-64 and AArch64 only"
#endif

static const char *machine_name(unsigned machine)
{
    switch (machine) {
    case EM_386:
        return "32-bit x86";
    case EM_X86_64:
        return "x86-64";
    case EM_AARCH64:
        return "AArch64";
    case EM_ARM:
        return "32-bit ARM";
    case EM_PPC64:
        return "PowerPC";
    case EM_RISCV:
        return "RISC-V";
    case EM_CUDA:
        return "an NVIDIA GPU";
    default:
        return "another machine";
    }
}

static enum pxr_status check_machine(const char *path, const struct elf_file *file,
                                     struct pxr_error *err)
{
    unsigned machine = elf_file_machine(file);
    if (machine != HOST_MACHINE)
        return pxr_fail(err, PXR_UNSUPPORTED,
                        "'%s' is a program for %s; this ptxrun runs those for %s", path,
                        machine_name(machine), machine_name(HOST_MACHINE));
    if (!elf_file_is_native(file))
        return pxr_fail(err, PXR_UNSUPPORTED,
                        "'%s' is a 32-bit program; ptxrun runs 64-bit ones only", path);
    return PXR_OK;
}

static void keep_name(char **names, unsigned *count, unsigned max, const char *text)
{
    char *name = *count < max ? strdup(text) : NULL;
    if (name)
        names[(*count)++] = name;
}

struct reading {
    struct target_elf *out;
    bool has_soname;
};

static void take_dynamic(void *user, int64_t tag, const char *text)
{
    struct reading *reading = user;
    struct target_elf *out = reading->out;
    switch (tag) {
    case DT_SONAME:
        reading->has_soname = true;
        break;
    case DT_RPATH:
        if (!out->rpath)
            out->rpath = strdup(text);
        break;
    case DT_RUNPATH:
        if (!out->runpath)
            out->runpath = strdup(text);
        break;
    case DT_NEEDED:
        if (strncmp(text, CUDART_PREFIX, strlen(CUDART_PREFIX)) == 0)
            keep_name(out->cudart, &out->cudart_count, TARGET_MAX_CUDART, text);
        else if (pxr_vendor_library(text))
            keep_name(out->vendor, &out->vendor_count, TARGET_MAX_VENDOR, text);
        break;
    default:
        break;
    }
}

static enum pxr_status read_elf(const char *path, const struct elf_file *file,
                                struct target_elf *out, struct pxr_error *err)
{
    enum pxr_status status = check_machine(path, file, err);
    if (status)
        return status;
    unsigned type = elf_file_type(file);
    struct reading reading = {.out = out};
    out->loader = elf_file_loader(file);
    elf_file_visit_dynamic(file, take_dynamic, &reading);
    // The loader itself can be started as a program; it has no loader but a library's name.
    out->is_static = !out->loader && !reading.has_soname && (type == ET_EXEC || type == ET_DYN);
    if (out->runpath) {
        free(out->rpath);
        out->rpath = NULL;
    }
    return PXR_OK;
}

/* The directory that $ORIGIN stands for, NULL if it cannot be known. */
static char *real_directory(const char *path)
{
    char *real = realpath(path, NULL);
    if (real)
        *strrchr(real, '/') = 0;
    return real;
}

enum pxr_status target_elf_read(const char *path, struct target_elf *out, struct pxr_error *err)
{
    struct elf_file file;
    *out = (struct target_elf){.directory = real_directory(path)};
    elf_file_open(path, &file);
    enum pxr_status status = file.bytes ? read_elf(path, &file, out, err) : PXR_OK;
    elf_file_close(&file);
    return status;
}

void target_elf_fini(struct target_elf *elf)
{
    free(elf->directory);
    free(elf->loader);
    free(elf->rpath);
    free(elf->runpath);
    for (unsigned i = 0; i < elf->cudart_count; i++)
        free(elf->cudart[i]);
    for (unsigned i = 0; i < elf->vendor_count; i++)
        free(elf->vendor[i]);
    *elf = (struct target_elf){0};
}

/* "<directory>/<library>" if it exists, with a leading $ORIGIN replaced. */
static char *find_in_directory(const struct target_elf *elf, const char *directory, size_t len,
                               const char *library)
{
    static const char *const ORIGINS[] = {"$ORIGIN", "${ORIGIN}"};
    const char *origin = "";
    for (size_t i = 0; i < 2; i++) {
        size_t origin_len = strlen(ORIGINS[i]);
        if (len >= origin_len && memcmp(directory, ORIGINS[i], origin_len) == 0) {
            if (!elf->directory)
                return NULL;
            origin = elf->directory;
            directory += origin_len;
            len -= origin_len;
        }
    }
    char *path = NULL;
    if (asprintf(&path, "%s%.*s/%s", origin, (int)len, directory, library) < 0)
        return NULL;
    if (access(path, F_OK) == 0)
        return path;
    free(path);
    return NULL;
}

static char *find_in_list(const struct target_elf *elf, const char *list, const char *library)
{
    while (list && *list) {
        size_t len = strcspn(list, ":");
        char *path = len ? find_in_directory(elf, list, len, library) : NULL;
        if (path)
            return path;
        list += len + (list[len] == ':');
    }
    return NULL;
}

char *target_elf_find_in_rpath(const struct target_elf *elf, const char *library)
{
    return find_in_list(elf, elf->rpath, library);
}

/* Whether the loader's cache names a file of this name: the cache holds whole paths, each ended
 * by a NUL, so a search for "/name\0" answers without knowing more of its format. */
static bool is_in_loader_cache(const char *library)
{
    char needle[128];
    int needle_len = snprintf(needle, sizeof needle, "/%s", library) + 1;
    int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0)
        return false;
    bool is_found = false;
    if (fstat(fd, &info) == 0 && info.st_size > 0 && (size_t)needle_len <= sizeof needle) {
        void *cache = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (cache != MAP_FAILED) {
            is_found = memmem(cache, (size_t)info.st_size, needle, (size_t)needle_len) != NULL;
            munmap(cache, (size_t)info.st_size);
        }
    }
    close(fd);
    return is_found;
}

static bool finds_library(const struct target_elf *elf, const char *library)
{
    char *path = find_in_list(elf, elf->rpath, library);
    if (!path)
        path = find_in_list(elf, elf->runpath, library);
    bool is_found = path != NULL || is_in_loader_cache(library);
    free(path);
    return is_found;
}

/* Whether the loader looks there even without its cache. */
static bool is_in_system_directory(const char *library)
{
    static const char DIRECTORIES[] = "/lib64:/usr/lib64:/lib:/usr/lib";
    char *path = find_in_list(&(struct target_elf){0}, DIRECTORIES, library);
    free(path);
    return path != NULL;
}

const char *target_elf_missing_vendor(const struct target_elf *elf, const char *search)
{
    for (unsigned i = 0; i < elf->vendor_count; i++) {
        const char *name = elf->vendor[i];
        char *path = find_in_list(elf, search, name);
        bool is_found = path || finds_library(elf, name) || is_in_system_directory(name);
        free(path);
        if (!is_found)
            return name;
    }
    return NULL;
}

bool target_elf_lacks_cudart(const struct target_elf *elf, const char *cudart_directory)
{
    for (unsigned i = 0; i < elf->cudart_count; i++) {
        if (!finds_library(elf, elf->cudart[i]))
            return true;
    }
    if (elf->cudart_count > 0 || !cudart_directory)
        return false;
    DIR *directory = opendir(cudart_directory);
    if (!directory)
        return false;
    bool lacks_one = false;
    for (struct dirent *item; !lacks_one && (item = readdir(directory)) != NULL;) {
        if (strncmp(item->d_name, CUDART_PREFIX, strlen(CUDART_PREFIX)) == 0)
            lacks_one = !finds_library(elf, item->d_name);
    }
    closedir(directory);
    return lacks_one;
}

bool target_elf_names_cudart(const struct target_elf *elf, const char *library)
{
    for (unsigned i = 0; i < elf->cudart_count; i++) {
        if (strcmp(elf->cudart[i], library) == 0)
            return true;
    }
    return false;
}

bool target_elf_finds(const struct target_elf *elf, const char *library)
{
    return finds_library(elf, library) || is_in_system_directory(library);
}
