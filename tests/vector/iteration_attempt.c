/* SPDX-License-Identifier: Apache-2.0
 *
 * See iteration_attempt.h. A process that tries iterations goes on to the next one: to start with
 * LLVM anew takes longer than most iterations do.
 */
#include "tests/vector/iteration_attempt.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONFIG_SECONDS 60 /* to compile and run one */
#define MAX_CONFIGS    4096
#define MAX_TEXT       (1 << 20)

/* What is asked and answered, in memory that both processes have. */
struct attempt {
    struct iteration_case c; /* its text is the one below */
    uint32_t count;
    uint32_t next; /* the first configuration that has not ended */
    bool is_begun;
    enum pxr_status status; /* of the iteration as it is */
    struct pxr_error err;
    struct iteration_config configs[MAX_CONFIGS];
    struct iteration_outcome outcomes[MAX_CONFIGS];
    char text[MAX_TEXT];
};

/* The process that tries. A byte through the socket says that it is the other's turn. */
static pid_t child;
static int line;

static void try_configs(struct attempt *attempt)
{
    struct iteration_run run;
    alarm(CONFIG_SECONDS);
    attempt->status = iteration_run_init(&run, &attempt->c, &attempt->err);
    attempt->is_begun = true;
    while (attempt->status == PXR_OK && attempt->next < attempt->count) {
        alarm(CONFIG_SECONDS);
        iteration_run_config(&run, &attempt->configs[attempt->next],
                             &attempt->outcomes[attempt->next]);
        attempt->next++;
    }
    alarm(0);
    iteration_run_fini(&run);
}

static bool give_turn(int to)
{
    return send(to, "", 1, MSG_NOSIGNAL) == 1;
}

static bool await_turn(int from)
{
    char byte;
    return recv(from, &byte, 1, 0) == 1;
}

_Noreturn static void serve(struct attempt *attempt, int parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (await_turn(parent)) {
        try_configs(attempt);
        give_turn(parent);
    }
    _exit(0);
}

static bool start_child(struct attempt *attempt)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        close(ends[0]);
        serve(attempt, ends[1]);
    }
    close(ends[1]);
    line = ends[0];
    if (child < 0)
        close(line);
    return child > 0;
}

void iteration_attempt_end(void)
{
    if (child <= 0)
        return;
    close(line);
    waitpid(child, NULL, 0);
    child = 0;
}

/* What the process died of is the outcome of what it was at. */
static void note_death(struct attempt *attempt)
{
    int status = 0;
    waitpid(child, &status, 0);
    close(line);
    child = 0;
    if (!attempt->is_begun) {
        attempt->status = pxr_fail(&attempt->err, PXR_COMPILE_FAILED,
                                   "%s: as it is, it ends the process", attempt->c.name);
        return;
    }
    struct iteration_outcome *outcome = &attempt->outcomes[attempt->next++];
    outcome->is_right = false;
    snprintf(outcome->message, sizeof outcome->message, "the process %s (signal %d, status %d) %s",
             WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "did not end" : "died",
             WIFSIGNALED(status) ? WTERMSIG(status) : 0,
             WIFEXITED(status) ? WEXITSTATUS(status) : 0,
             outcome->was_run ? "while it ran" : "while it compiled");
}

/* Whether a process has to go on. */
static bool attempt_more(struct attempt *attempt)
{
    attempt->is_begun = false;
    if (child <= 0 && !start_child(attempt)) {
        attempt->status = pxr_fail(&attempt->err, PXR_OUT_OF_RESOURCES, "no process");
        return false;
    }
    if (give_turn(line) && await_turn(line))
        return false;
    note_death(attempt);
    return attempt->status == PXR_OK && attempt->next < attempt->count;
}

/* Code that has left its arrays may have written anywhere before it was seen. */
static void end_if_astray(const struct attempt *attempt)
{
    for (uint32_t n = 0; n < attempt->count; n++)
        if (attempt->outcomes[n].is_astray) {
            iteration_attempt_end();
            return;
        }
}

static struct attempt *shared_attempt(void)
{
    static struct attempt *attempt;
    if (attempt == NULL) {
        void *memory =
            mmap(NULL, sizeof *attempt, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        attempt = memory == MAP_FAILED ? NULL : memory;
    }
    return attempt;
}

enum pxr_status iteration_attempt(const struct iteration_case *c,
                                  const struct iteration_config *configs, uint32_t count,
                                  struct iteration_outcome *outcomes, struct pxr_error *err)
{
    struct attempt *attempt = shared_attempt();
    if (attempt == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for outcomes");
    if (count > MAX_CONFIGS || c->text_bytes >= MAX_TEXT)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "more than there is room for");
    attempt->c = *c;
    attempt->c.text = attempt->text;
    memcpy(attempt->text, c->text, c->text_bytes + 1);
    memcpy(attempt->configs, configs, count * sizeof *configs);
    memset(attempt->outcomes, 0, count * sizeof *outcomes);
    attempt->count = count;
    attempt->next = 0;
    attempt->status = PXR_OK;
    while (attempt_more(attempt))
        ;
    end_if_astray(attempt);
    memcpy(outcomes, attempt->outcomes, count * sizeof *outcomes);
    if (attempt->status != PXR_OK && err != NULL)
        *err = attempt->err;
    return attempt->status;
}
