/* SPDX-License-Identifier: Apache-2.0
 *
 * For `ptxbench programs`: runs of a program, and what ptxrun says of its kernels.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/bench/command.h"
#include "tools/bench/programs.h"
#include "tools/bench/stats_file.h"

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

/* The setting's assignments, and where the statistics go. The caller frees it. */
static char **variables_of(const struct programs_words *setting, char *stats_file)
{
    char **variables = calloc(setting->count + 2, sizeof(char *));
    size_t count = 0;
    for (size_t i = 0; i < setting->count; i++)
        if (is_assignment(setting->words[i]))
            variables[count++] = setting->words[i];
    variables[count] = stats_file;
    return variables;
}

/* False with the reason in result->error. stats_file: an assignment. */
static bool run_once(struct programs_result *result, const struct programs_words *program,
                     const char *folder, const struct programs_wish *wish, int setting,
                     char *stats_file)
{
    struct programs_words words =
        programs_split(wish->settings[setting], strlen(wish->settings[setting]));
    char **command = command_of(&words, program, wish->ptxrun);
    char **variables = variables_of(&words, stats_file);
    struct process_outcome outcome;
    process_run(
        &(struct process_wish){
            .command = command, .variables = variables, .folder = folder, .limit_s = wish->limit_s},
        &outcome);
    free(variables);
    free(command);
    programs_free_words(&words);
    if (outcome.end == PROCESS_EXITED && outcome.code == 0)
        return true;
    char text[PROCESS_TEXT_BYTES];
    process_end_text(&outcome, text);
    snprintf(result->error, sizeof result->error, "%s in setting %c", text, 'A' + setting);
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

/* Where a run's lines go. */
struct target {
    struct programs_result *result;
    int setting;
    unsigned round;
};

/* stats_take_fn */
static void take_line(void *arg, const struct stats_line *line)
{
    const struct target *target = arg;
    struct programs_kernel *kernel = find_kernel(target->result, line->name);
    struct programs_sample *sum = &kernel->samples[target->setting][target->round];
    if (sum->calls == 0 || (line->calls > 0 && line->shortest_ns < sum->shortest_ns))
        sum->shortest_ns = line->shortest_ns;
    sum->calls += line->calls;
    sum->total_ns += line->total_ns;
    sum->compile_ns += line->compile_ns;
}

void programs_measure(struct programs_result *result, const struct programs_words *program,
                      const char *folder, const struct programs_wish *wish)
{
    const char *slash = strrchr(program->words[0], '/');
    *result = (struct programs_result){.program = slash ? slash + 1 : program->words[0],
                                       .rounds = wish->rounds};
    char folder_made[] = "/tmp/ptxbench-XXXXXX";
    char variable[sizeof "PTXRUN_STATS_FILE=" + sizeof folder_made + sizeof "/stats"];
    if (!mkdtemp(folder_made)) {
        snprintf(result->error, sizeof result->error, "no temporary folder: %s", strerror(errno));
        return;
    }
    snprintf(variable, sizeof variable, "PTXRUN_STATS_FILE=%s/stats", folder_made);
    for (unsigned i = 0; i < PROGRAMS_SETTINGS * wish->rounds && !result->error[0]; i++) {
        struct target target = {.result = result, .round = i / PROGRAMS_SETTINGS};
        // A and B, then B and A: neither is always the first one after a pause.
        target.setting = (int)((i + target.round) % PROGRAMS_SETTINGS);
        bool is_right = run_once(result, program, folder, wish, target.setting, variable);
        stats_file_take(strchr(variable, '=') + 1, take_line, &target);
        if (!is_right)
            break;
    }
    rmdir(folder_made);
}

void programs_free_result(struct programs_result *result)
{
    for (size_t i = 0; i < result->count; i++)
        free(result->kernels[i].name);
    free(result->kernels);
}
