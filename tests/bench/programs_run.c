/* SPDX-License-Identifier: Apache-2.0
 *
 * For `ptxbench programs`: runs of a program, and what ptxrun says of its kernels.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/programs.h"

/* ---- one run ---- */

/* An option that begins with a dash is none. */
static bool is_assignment(const char *word)
{
    return word[0] != '-' && strchr(word, '=') != NULL;
}

/* ptxrun, its options, the program and its arguments. The caller frees it. */
static char **command_of(const struct programs_words *setting, const struct programs_words *program,
                         const char *ptxrun)
{
    char **command = calloc(setting->count + program->count + 3, sizeof(char *));
    size_t count = 0;
    command[count++] = (char *)ptxrun;
    for (size_t i = 0; i < setting->count; i++)
        if (!is_assignment(setting->words[i]))
            command[count++] = setting->words[i];
    command[count++] = "--";
    memcpy(command + count, program->words, program->count * sizeof(char *));
    return command;
}

/* In the child, which becomes the program. */
static void become(const struct programs_words *setting, char **command, const char *folder,
                   const char *stats_file, unsigned limit_s)
{
    for (size_t i = 0; i < setting->count; i++)
        if (is_assignment(setting->words[i]))
            putenv(setting->words[i]);
    setenv("PTXRUN_STATS_FILE", stats_file, 1);
    int nothing = open("/dev/null", O_RDWR);
    bool is_ready = nothing >= 0 && chdir(folder) == 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
                    dup2(nothing, STDOUT_FILENO) >= 0 && dup2(nothing, STDERR_FILENO) >= 0;
    alarm(limit_s);
    if (is_ready)
        execvp(command[0], command);
    _exit(127);
}

/* False with the reason in result->error. */
static bool run_once(struct programs_result *result, const struct programs_words *program,
                     const char *folder, const struct programs_wish *wish, int setting,
                     const char *stats_file)
{
    struct programs_words words =
        programs_split(wish->settings[setting], strlen(wish->settings[setting]));
    char **command = command_of(&words, program, wish->ptxrun);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        become(&words, command, folder, stats_file, wish->limit_s);
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    free(command);
    programs_free_words(&words);
    bool has_exited = child > 0 && WIFEXITED(status);
    if (has_exited && WEXITSTATUS(status) == 0)
        return true;
    snprintf(result->error, sizeof result->error, "%s %d in setting %c",
             has_exited ? "exit status" : "ended by signal",
             has_exited ? WEXITSTATUS(status) : WTERMSIG(status), 'A' + setting);
    return false;
}

/* ---- what it took ---- */

static struct programs_kernel *find_kernel(struct programs_result *result, const char *name)
{
    for (size_t i = 0; i < result->count; i++)
        if (strcmp(result->kernels[i].name, name) == 0)
            return &result->kernels[i];
    result->kernels = realloc(result->kernels, (result->count + 1) * sizeof result->kernels[0]);
    struct programs_kernel *kernel = &result->kernels[result->count++];
    *kernel = (struct programs_kernel){.name = strdup(name)};
    return kernel;
}

/* A line of --stats-file. A kernel has several if the program has several processes. */
static void take_line(struct programs_result *result, char *line, int setting, unsigned round)
{
    struct programs_sample sample;
    char *name = strrchr(line, '\t');
    if (!name || sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %*u %" SCNu64, &sample.calls,
                        &sample.total_ns, &sample.shortest_ns, &sample.compile_ns) != 4)
        return;
    name++;
    name[strcspn(name, "\n")] = '\0';
    struct programs_sample *sum = &find_kernel(result, name)->samples[setting][round];
    if (sum->calls == 0 || (sample.calls > 0 && sample.shortest_ns < sum->shortest_ns))
        sum->shortest_ns = sample.shortest_ns;
    sum->calls += sample.calls;
    sum->total_ns += sample.total_ns;
    sum->compile_ns += sample.compile_ns;
}

/* Takes what a run has written and empties the file. */
static void take_stats(struct programs_result *result, FILE *stats, int setting, unsigned round)
{
    char *line = NULL;
    size_t capacity = 0;
    rewind(stats);
    while (getline(&line, &capacity, stats) >= 0)
        take_line(result, line, setting, round);
    free(line);
    if (ftruncate(fileno(stats), 0) != 0)
        snprintf(result->error, sizeof result->error, "cannot empty a temporary file");
}

void programs_measure(struct programs_result *result, const struct programs_words *program,
                      const char *folder, const struct programs_wish *wish)
{
    const char *slash = strrchr(program->words[0], '/');
    *result = (struct programs_result){.program = slash ? slash + 1 : program->words[0],
                                       .rounds = wish->rounds};
    char path[] = "/tmp/ptxbench-XXXXXX";
    int descriptor = mkostemp(path, O_CLOEXEC);
    FILE *stats = descriptor >= 0 ? fdopen(descriptor, "r+") : NULL;
    if (!stats) {
        snprintf(result->error, sizeof result->error, "no temporary file: %s", strerror(errno));
        return;
    }
    for (unsigned i = 0; i < PROGRAMS_SETTINGS * wish->rounds && !result->error[0]; i++) {
        unsigned round = i / PROGRAMS_SETTINGS;
        // A and B, then B and A: neither is always the first one after a pause.
        int setting = (int)((i + round) % PROGRAMS_SETTINGS);
        if (run_once(result, program, folder, wish, setting, path))
            take_stats(result, stats, setting, round);
    }
    fclose(stats);
    unlink(path);
}

void programs_free_result(struct programs_result *result)
{
    for (size_t i = 0; i < result->count; i++)
        free(result->kernels[i].name);
    free(result->kernels);
}
