/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds and examines the program to start. The checks exist for their messages: without them the
 * program would start and say only that there is no CUDA device, or the shell would say only that
 * there is no such file.
 */
#include "tools/target_program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tools/target_elf.h"
#include "tools/target_package.h"
#include "util/vendor.h"

enum { MAX_SCRIPT_DEPTH = 4, HEAD_BYTES = 256 };

static bool is_executable_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

static enum pxr_status fail_not_executable(const char *path, struct pxr_error *err)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return pxr_fail(err, PXR_IO, "'%s' is a directory", path);
    return pxr_fail(err, PXR_IO, "cannot execute '%s': %s", path, strerror(EACCES));
}

static enum pxr_status take_path(const char *program, char **path, struct pxr_error *err)
{
    if (access(program, F_OK) != 0)
        return pxr_fail(err, errno == EACCES ? PXR_IO : PXR_NOT_FOUND, "cannot find '%s': %s",
                        program, strerror(errno));
    if (!is_executable_file(program))
        return fail_not_executable(program, err);
    *path = strdup(program);
    return *path ? PXR_OK : pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
}

enum pxr_status target_find(const char *program, char **path, struct pxr_error *err)
{
    *path = NULL;
    if (strchr(program, '/'))
        return take_path(program, path, err);
    char *blocked = NULL; // found, but not executable
    const char *list = getenv("PATH");
    for (const char *at = list ? list : "/bin:/usr/bin"; !*path && *program;) {
        int len = (int)strcspn(at, ":");
        char *candidate = NULL;
        if (asprintf(&candidate, "%.*s%s%s", len, at, len ? "/" : "./", program) < 0)
            break;
        if (is_executable_file(candidate)) {
            *path = candidate;
        } else if (!blocked && access(candidate, F_OK) == 0) {
            blocked = candidate;
        } else {
            free(candidate);
        }
        if (!at[len])
            break;
        at += len + 1;
    }
    enum pxr_status status = PXR_OK;
    if (!*path && blocked)
        status = fail_not_executable(blocked, err);
    else if (!*path && *program && is_executable_file(program))
        status =
            pxr_fail(err, PXR_NOT_FOUND, "'%s' is not in PATH; to run the one here, write './%s'",
                     program, program);
    else if (!*path)
        status = pxr_fail(err, PXR_NOT_FOUND, "'%s' is not in PATH", program);
    free(blocked);
    return status;
}

/* The loader ignores LD_LIBRARY_PATH, and removes it, when a program starts with privileges that
 * its caller does not have. */
static enum pxr_status check_privileges(const char *path, struct pxr_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return pxr_fail(err, PXR_IO, "cannot examine '%s': %s", path, strerror(errno));
    const char *reason = NULL;
    if ((info.st_mode & S_ISUID) && info.st_uid != geteuid())
        reason = "set-user-ID";
    else if ((info.st_mode & S_ISGID) && (info.st_mode & S_IXGRP) && info.st_gid != getegid())
        reason = "set-group-ID";
    else if (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        reason = "given file capabilities";
    if (!reason)
        return PXR_OK;
    return pxr_fail(err, PXR_UNSUPPORTED,
                    "'%s' is %s: the loader drops LD_LIBRARY_PATH for it and all it starts; start "
                    "ptxrun from within, as in 'sudo ptxrun program'",
                    path, reason);
}

/* The interpreter named in the first line of a script, cut out of head; NULL if it is no script. */
static char *script_interpreter(char *head, size_t len)
{
    if (len < 3 || head[0] != '#' || head[1] != '!')
        return NULL;
    head[len] = 0;
    char *start = head + 2 + strspn(head + 2, " \t");
    start[strcspn(start, " \t\r\n")] = 0;
    return *start ? start : NULL;
}

static size_t read_head(const char *path, char head[HEAD_BYTES + 1])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0; // executable but not readable: nothing to examine
    ssize_t len = read(fd, head, HEAD_BYTES);
    close(fd);
    return len > 0 ? (size_t)len : 0;
}

static enum pxr_status check_interpreter(const char *path, const char *interpreter,
                                         struct pxr_error *err)
{
    if (access(interpreter, F_OK) != 0)
        return pxr_fail(err, PXR_IO, "'%s' is a script for '%s', which does not exist", path,
                        interpreter);
    if (!is_executable_file(interpreter))
        return pxr_fail(err, PXR_IO, "'%s' is a script for '%s', which cannot be executed", path,
                        interpreter);
    return PXR_OK;
}

/* Whether the program, or a library it loads later, would look for an older libcudart in vain. */
static bool lacks_older(const struct target_elf *elf, const char *library)
{
    return (elf->cudart_count == 0 || target_elf_names_cudart(elf, library)) &&
           !target_elf_finds(elf, library);
}

static bool is_older_cudart(const char *library)
{
    for (int i = 0; i < TARGET_OLDER_COUNT; i++)
        if (strcmp(library, target_older_cudarts[i]) == 0)
            return true;
    return false;
}

/* Why the program will not get far, in *warning; NULL: it may. */
static enum pxr_status foresee(const char *path, const struct target_elf *elf,
                               const char *cudart_directory, char **warning, struct pxr_error *err)
{
    const char *search = getenv("LD_LIBRARY_PATH");
    const char *vendor = target_elf_missing_vendor(elf, search);
    const char *cudart = target_elf_missing_cudart(elf, search, cudart_directory);
    int written = 0;
    if (elf->is_static)
        written = asprintf(warning,
                           "'%s' is statically linked and cannot load a CUDA driver; only "
                           "dynamically linked programs that it starts will find ptxrun's",
                           path);
    else if (vendor)
        written = asprintf(warning,
                           "'%s' needs %s (%s), which is not on this machine: a closed library "
                           "made for GPUs, which ptxrun does not serve yet",
                           path, vendor, pxr_vendor_library(vendor));
    else if (cudart && !is_older_cudart(cudart))
        written = asprintf(warning,
                           "'%s' needs %s, which is not on this machine, and ptxrun has those of "
                           "CUDA 11 to 13 only; put the folder of the toolkit's own into "
                           "LD_LIBRARY_PATH",
                           path, cudart);
    return written < 0 ? pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory") : PXR_OK;
}

static enum pxr_status inspect_elf(const char *path, const char *cudart_directory,
                                   struct target *target, struct pxr_error *err)
{
    struct target_elf elf;
    enum pxr_status status = target_elf_read(path, &elf, err);
    if (status == PXR_OK && elf.loader && access(elf.loader, F_OK) != 0)
        status = pxr_fail(err, PXR_IO, "'%s' needs the loader '%s', which does not exist", path,
                          elf.loader);
    if (status == PXR_OK)
        status = foresee(path, &elf, cudart_directory, &target->warning, err);
    if (status == PXR_OK) {
        target->other_driver = target_elf_find_in_rpath(&elf, "libcuda.so.1");
        target->lacks_cudart = target_elf_lacks_cudart(&elf, cudart_directory);
        target->elf_path = strdup(path);
        target->names_cudart = elf.cudart_count > 0;
        for (int i = 0; i < TARGET_OLDER_COUNT; i++)
            target->lacks_older[i] = lacks_older(&elf, target_older_cudarts[i]);
    }
    target_elf_fini(&elf);
    return status;
}

enum pxr_status target_inspect(const char *path, const char *cudart_directory,
                               struct target *target, struct pxr_error *err)
{
    *target = (struct target){.lacks_cudart = true};
    char heads[2][HEAD_BYTES + 1]; // a script's path points into the head of the one before
    for (int depth = 0; depth < MAX_SCRIPT_DEPTH; depth++) {
        char *head = heads[depth % 2];
        size_t len = read_head(path, head);
        char *interpreter = script_interpreter(head, len);
        if (!interpreter) {
            enum pxr_status status = check_privileges(path, err);
            if (status == PXR_OK && len >= 4 && memcmp(head, "\177ELF", 4) == 0)
                status = inspect_elf(path, cudart_directory, target, err);
            return status;
        }
        enum pxr_status status = check_interpreter(path, interpreter, err);
        if (status)
            return status;
        path = interpreter;
    }
    return PXR_OK; // deeper than the kernel goes: its own error will do
}

void target_fini(struct target *target)
{
    free(target->elf_path);
    free(target->other_driver);
    free(target->warning);
    *target = (struct target){0};
}
