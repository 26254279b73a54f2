/* SPDX-License-Identifier: Apache-2.0
 *
 * See iteration_attempt.h.
 */
#include "tests/vector/iteration_attempt.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONFIG_SECONDS 60 /* to compile and run one */

/* The answers of the processes to their parent. */
struct shared {
    enum pxr_status status; /* of the iteration as it is */
    struct pxr_error err;
    uint32_t next; /* the first configuration that has not ended */
    bool is_begun;
    struct iteration_outcome outcomes[];
};

static void try_configs(const struct iteration_case *c, const struct iteration_config *configs,
                        uint32_t count, struct shared *shared)
{
    struct iteration_run run;
    alarm(CONFIG_SECONDS);
    shared->status = iteration_run_init(&run, c, &shared->err);
    shared->is_begun = true;
    while (shared->status == PXR_OK && shared->next < count) {
        alarm(CONFIG_SECONDS);
        iteration_run_config(&run, &configs[shared->next], &shared->outcomes[shared->next]);
        shared->next++;
    }
}

/* Whether another process has to go on. */
static bool run_process(const struct iteration_case *c, const struct iteration_config *configs,
                        uint32_t count, struct shared *shared)
{
    int status = 0;
    shared->is_begun = false;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        try_configs(c, configs, count, shared);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0) {
        shared->status = pxr_fail(&shared->err, PXR_OUT_OF_RESOURCES, "no process");
        return false;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return false;
    if (!shared->is_begun) {
        shared->status = pxr_fail(&shared->err, PXR_COMPILE_FAILED,
                                  "%s: as it is, it ends the process", c->name);
        return false;
    }
    struct iteration_outcome *outcome = &shared->outcomes[shared->next++];
    outcome->is_right = false;
    snprintf(outcome->message, sizeof outcome->message, "the process %s (signal %d, status %d) %s",
             WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "did not end" : "died",
             WIFSIGNALED(status) ? WTERMSIG(status) : 0,
             WIFEXITED(status) ? WEXITSTATUS(status) : 0,
             outcome->was_run ? "while it ran" : "while it compiled");
    return shared->next < count;
}

enum pxr_status iteration_attempt(const struct iteration_case *c,
                                  const struct iteration_config *configs, uint32_t count,
                                  struct iteration_outcome *outcomes, struct pxr_error *err)
{
    size_t bytes = sizeof(struct shared) + count * sizeof *outcomes;
    struct shared *shared =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for outcomes");
    while (run_process(c, configs, count, shared))
        ;
    memcpy(outcomes, shared->outcomes, count * sizeof *outcomes);
    enum pxr_status status = shared->status;
    if (status != PXR_OK && err != NULL)
        *err = shared->err;
    munmap(shared, bytes);
    return status;
}
