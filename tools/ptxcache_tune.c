/* SPDX-License-Identifier: Apache-2.0
 *
 * ptxcache warm --tune: runs a program with as much time for measuring its kernels' code as it
 * takes, so that later processes find what is fastest.
 */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/ptxcache.h"
#include "util/options.h"

extern char **environ;

/* The command ptxrun, which lies beside this one. False: nobody knows where that is. */
static bool find_ptxrun(char path[PATH_MAX])
{
    ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);
    char *name = NULL;
    if (len > 0) {
        path[len] = '\0';
        name = strrchr(path, '/');
    }
    if (!name || (size_t)(name - path) + sizeof "/ptxrun" > PATH_MAX)
        return false;
    strcpy(name, "/ptxrun");
    return true;
}

static bool set_options(const struct ptxcache *tool)
{
    static const struct {
        enum pxr_option_id id;
        const char *value;
    } wanted[] = {
        {PXR_OPTION_TIER, "best"},
        {PXR_OPTION_CHOOSE, "measure"},
        {PXR_OPTION_CHOOSE_SHARE, "4000000000"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (setenv(pxr_option_table[wanted[i].id].variable, wanted[i].value, 1) != 0)
            return false;
    return !tool->is_verbose || setenv(pxr_option_table[PXR_OPTION_EXPLAIN].variable, "1", 1) == 0;
}

/* The exit status of the program, 128 and the number of the signal that ended it, or -1. */
static int run(const char *ptxrun, const struct ptxcache_words *command)
{
    char **argv = calloc(command->count + 2, sizeof *argv);
    pid_t child;
    int status;
    if (!argv)
        return -1;
    argv[0] = (char *)(uintptr_t)ptxrun;
    memcpy(argv + 1, command->words, command->count * sizeof *argv);
    errno = posix_spawn(&child, ptxrun, NULL, NULL, argv, environ);
    free(argv);
    if (errno != 0)
        return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

enum ptxcache_exit ptxcache_tune(const struct ptxcache *tool)
{
    char ptxrun[PATH_MAX];
    if (tool->operands.count == 0 || tool->recordings.count > 0) {
        ptxcache_complain("'warm --tune' needs a program with its arguments, and no recording; see "
                          "ptxcache --help");
        return PTXCACHE_USAGE;
    }
    if (!find_ptxrun(ptxrun) || !set_options(tool)) {
        ptxcache_complain("ptxrun cannot be started");
        return PTXCACHE_FAILED;
    }
    int status = run(ptxrun, &tool->operands);
    if (status < 0)
        ptxcache_complain("%s cannot be started: %s", ptxrun, strerror(errno));
    else if (status > 0)
        ptxcache_complain("'%s' has ended with status %d", tool->operands.words[0], status);
    return status == 0 ? PTXCACHE_OK : PTXCACHE_FAILED;
}
