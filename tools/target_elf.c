/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a program's ELF headers with libelf, and follows the dynamic loader's search order
 * as far as the question "whose library will it find" needs.
 */
#include "tools/target_elf.h"

#include <dirent.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

static enum pxr_status check_machine(const char *path, const GElf_Ehdr *header,
                                     struct pxr_error *err)
{
    if (header->e_machine != HOST_MACHINE)
        return pxr_fail(err, PXR_UNSUPPORTED,
                        "'%s' is a program for %s; this ptxrun runs those for %s", path,
                        machine_name(header->e_machine), machine_name(HOST_MACHINE));
    if (header->e_ident[EI_CLASS] != ELFCLASS64)
        return pxr_fail(err, PXR_UNSUPPORTED,
                        "'%s' is a 32-bit program; ptxrun runs 64-bit ones only", path);
    return PXR_OK;
}

/* What the headers say is in memory has to be in the file: the kernel maps what is not there, and
 * the program ends by a signal when it gets to it. */
static enum pxr_status check_length(const char *path, Elf *elf, const GElf_Ehdr *header,
                                    struct pxr_error *err)
{
    size_t file_bytes = 0;
    elf_rawfile(elf, &file_bytes);
    uint64_t end = header->e_phoff + (uint64_t)header->e_phnum * header->e_phentsize;
    for (int i = 0; end <= file_bytes && i < header->e_phnum; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(elf, i, &segment) && segment.p_type == PT_LOAD && segment.p_filesz > 0 &&
            segment.p_offset + segment.p_filesz > end)
            end = segment.p_offset + segment.p_filesz;
    }
    if (end <= file_bytes)
        return PXR_OK;
    return pxr_fail(err, PXR_BAD_IMAGE,
                    "'%s' is truncated: it has %zu bytes, and by its headers at least %" PRIu64,
                    path, file_bytes, end);
}

/* The loader's path from PT_INTERP, checked against the file's size; NULL if there is none. */
static char *read_loader(Elf *elf)
{
    size_t file_bytes = 0;
    const char *file = elf_rawfile(elf, &file_bytes);
    size_t count = 0;
    if (!file || elf_getphdrnum(elf, &count) != 0)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_INTERP)
            continue;
        if (header.p_offset > file_bytes || header.p_filesz > file_bytes - header.p_offset)
            return NULL;
        return strndup(file + header.p_offset, header.p_filesz);
    }
    return NULL;
}

static void keep_name(char **names, unsigned *count, unsigned max, const char *text)
{
    char *name = *count < max ? strdup(text) : NULL;
    if (name)
        names[(*count)++] = name;
}

static void take_dynamic(struct target_elf *out, const GElf_Dyn *dyn, const char *text,
                         bool *has_soname)
{
    switch (dyn->d_tag) {
    case DT_SONAME:
        *has_soname = true;
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

/* Fills in the strings of the dynamic section; returns whether it gives a library's name. */
static bool read_dynamic(Elf *elf, struct target_elf *out)
{
    bool has_soname = false;
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_DYNAMIC || !header.sh_entsize)
            continue;
        Elf_Data *data = elf_getdata(scn, NULL);
        GElf_Dyn dyn;
        for (int i = 0; data && gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
            const char *text = elf_strptr(elf, header.sh_link, dyn.d_un.d_val);
            take_dynamic(out, &dyn, text ? text : "", &has_soname);
        }
    }
    return has_soname;
}

static enum pxr_status read_elf(const char *path, Elf *elf, struct target_elf *out,
                                struct pxr_error *err)
{
    GElf_Ehdr header;
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
        return pxr_fail(err, PXR_BAD_IMAGE, "'%s' is truncated: its ELF header is not all there",
                        path);
    enum pxr_status status = check_machine(path, &header, err);
    if (status == PXR_OK)
        status = check_length(path, elf, &header, err);
    if (status)
        return status;
    out->loader = read_loader(elf);
    bool is_library = read_dynamic(elf, out);
    // The loader itself can be started as a program; it has no loader but a library's name.
    out->is_static =
        !out->loader && !is_library && (header.e_type == ET_EXEC || header.e_type == ET_DYN);
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
    *out = (struct target_elf){.directory = real_directory(path)};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return PXR_OK;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    enum pxr_status status = read_elf(path, elf, out, err);
    elf_end(elf);
    close(fd);
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

bool target_elf_finds(const struct target_elf *elf, const char *library)
{
    return finds_library(elf, library) || is_in_system_directory(library);
}

static bool is_missing(const struct target_elf *elf, const char *search, const char *library)
{
    char *path = find_in_list(elf, search, library);
    bool is_found = path || target_elf_finds(elf, library);
    free(path);
    return !is_found;
}

const char *target_elf_missing_vendor(const struct target_elf *elf, const char *search)
{
    for (unsigned i = 0; i < elf->vendor_count; i++)
        if (is_missing(elf, search, elf->vendor[i]))
            return elf->vendor[i];
    return NULL;
}

const char *target_elf_missing_cudart(const struct target_elf *elf, const char *search,
                                      const char *cudart_directory)
{
    for (unsigned i = 0; i < elf->cudart_count; i++)
        if (is_missing(elf, search, elf->cudart[i]) &&
            is_missing(elf, cudart_directory, elf->cudart[i]))
            return elf->cudart[i];
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
