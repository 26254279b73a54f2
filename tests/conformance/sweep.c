/* SPDX-License-Identifier: Apache-2.0
 *
 * Chooses the forms to sweep, and the jobs that share the chunks of one form's inputs. Jobs are
 * processes: their findings are in shared memory, and go into the summary form by form.
 */
#include "tests/conformance/sweep.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/oracle/scalar.h"

#define MAX_JOBS   64
#define NOTE_BYTES 160
#define CHUNK_STEP 1597u /* odd: which chunk is next, so that those done are spread evenly */

/* The progress of the form being swept, shared by the jobs. */
struct progress {
    _Atomic bool is_stopped; /* by a signal */
    _Atomic bool is_refused;
    _Atomic uint64_t fingerprint;
    struct sweep_result results[MAX_JOBS];
    char note[NOTE_BYTES]; /* why it was refused */
};

struct forms {
    const struct conf_options *options;
    struct conf_case *cases;
    size_t count;
};

/* One sweep per process; jobs are forked from it. The signal handler needs them here. */
static struct progress *progress;
static struct sweep_summary summary;

/* ---- which forms ---- */

static bool take_case(const struct conf_case *made, void *data)
{
    struct forms *forms = data;
    if (!sweep_takes(made))
        return true;
    for (size_t i = 0; i < forms->count; i++)
        if (strcmp(forms->cases[i].name, made->name) == 0)
            return true;
    struct conf_case *grown = realloc(forms->cases, (forms->count + 1) * sizeof *grown);
    if (grown == NULL)
        return false;
    grown[forms->count++] = *made;
    forms->cases = grown;
    return true;
}

static bool take_form(const struct ptx_form *form, void *data)
{
    const struct forms *forms = data;
    if (form->min_sm <= forms->options->max_sm)
        conf_scalar_cases(form, false, take_case, data);
    return true;
}

/* Instructions that only compute, from one source. */
static bool is_candidate(enum ptx_op op)
{
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    struct ptx_inst inst = {.op = op, .type_count = 2, .types = {PTX_TYPE_B32, PTX_TYPE_B32}};
    return ptx_op_operand_rules(op, rules) == 2 && oracle_result_type(&inst) != PTX_TYPE_NONE;
}

/* ---- one job ---- */

/* Odd, so that the low bits of the inputs vary. */
static uint32_t stride_of(const struct conf_options *options)
{
    return (uint32_t)options->sweep_stride | 1;
}

static uint64_t input_count(const struct conf_options *options)
{
    return (SWEEP_ALL + stride_of(options) - 1) / stride_of(options);
}

static uint32_t chunk_count(const struct conf_options *options)
{
    return (uint32_t)((input_count(options) + SWEEP_CHUNK - 1) >> SWEEP_CHUNK_BITS);
}

static enum pxr_status run_chunk(const struct conf_options *options, struct sweep_form *form,
                                 uint32_t chunk, struct sweep_result *result, struct pxr_error *err)
{
    uint32_t chunks = chunk_count(options);
    uint32_t stride = stride_of(options);
    /* all chunks once: of a power of two with any odd step, of fewer in their order */
    if ((chunks & (chunks - 1)) == 0)
        chunk = chunk * CHUNK_STEP % chunks;
    uint64_t start = (uint64_t)chunk << SWEEP_CHUNK_BITS;
    uint64_t left = input_count(options) - start;
    return sweep_form_run(form, (uint32_t)start * stride, stride,
                          left < SWEEP_CHUNK ? (uint32_t)left : SWEEP_CHUNK, result, err);
}

/* How many chunks need not be judged again: all, or as many as an interrupted run of all inputs
 * finished. */
static uint32_t chunks_known(const struct conf_options *options, const char *name,
                             uint64_t fingerprint)
{
    const struct sweep_line *line = sweep_summary_find(&summary, name);
    if (line == NULL || line->fingerprint != fingerprint)
        return 0;
    if (line->result.inputs >= input_count(options))
        return chunk_count(options);
    if (stride_of(options) != 1 || line->result.inputs % SWEEP_CHUNK != 0)
        return 0;
    return (uint32_t)(line->result.inputs >> SWEEP_CHUNK_BITS);
}

static enum pxr_status run_chunks(struct conf_run *run, struct sweep_form *form, uint32_t known,
                                  struct sweep_result *result, struct pxr_error *err)
{
    enum pxr_status status = PXR_OK;
    while (status == PXR_OK && !atomic_load(&progress->is_stopped)) {
        uint64_t chunk = known + atomic_fetch_add(&run->shared->next_batch, 1);
        if (chunk >= chunk_count(run->options))
            break;
        status = run_chunk(run->options, form, (uint32_t)chunk, result, err);
    }
    return status;
}

void conf_sweep_chunks(struct conf_run *run, const struct conf_case *made)
{
    struct sweep_form *form = NULL;
    struct pxr_error err = {0};
    uint64_t fingerprint = 0;
    ptrdiff_t job = (run->rows - run->shared->rows) / PTX_OP_COUNT;
    enum pxr_status status = sweep_form_open(made, &form, &fingerprint, &err);
    if (status == PXR_OK) {
        atomic_store(&progress->fingerprint, fingerprint);
        status = run_chunks(run, form, chunks_known(run->options, made->name, fingerprint),
                            &progress->results[job], &err);
        sweep_form_close(form);
    }
    if (status != PXR_OK && !atomic_exchange(&progress->is_refused, true))
        snprintf(progress->note, sizeof progress->note, "%s: %s", pxr_status_name(status),
                 err.message);
}

/* ---- all forms ---- */

static void stop(int signal_number)
{
    (void)signal_number;
    atomic_store(&progress->is_stopped, true);
}

/* Everything judged so far counts. */
static void stop_on_signals(void)
{
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

/* 1 when the form has differences or was refused. */
static int note_form(const struct conf_options *options, const char *name, struct pxr_error *err)
{
    struct sweep_line line = {.fingerprint = atomic_load(&progress->fingerprint)};
    struct sweep_result *sum = &line.result;
    if (atomic_load(&progress->is_refused)) {
        printf("%s: refused: %s\n", name, progress->note);
        return 1;
    }
    for (unsigned i = 0; i < options->jobs; i++)
        sweep_result_add(sum, &progress->results[i]);
    snprintf(line.form, sizeof line.form, "%s", name);
    const struct sweep_line *old = sweep_summary_find(&summary, name);
    if (sum->inputs == 0) /* known, or stopped */
        return old != NULL && old->result.failures > 0;
    if (chunks_known(options, name, line.fingerprint) > 0)
        sweep_result_add(sum, &old->result);
    if (!sweep_summary_put(&summary, &line) ||
        sweep_summary_write(&summary, options->sweep_path, err) != PXR_OK)
        return 2;
    printf("%s: %" PRIu64 " inputs, %" PRIu64 " differ\n", name, sum->inputs, sum->failures);
    if (sum->failures > 0)
        printf("    first 0x%08" PRIx32 ": should be 0x%" PRIx64 ", is 0x%" PRIx64 "\n", sum->first,
               sum->want, sum->got);
    fflush(stdout);
    return sum->failures > 0;
}

/* Returns as conf_sweep does. */
static int sweep_forms(const struct forms *forms, struct conf_shared *shared,
                       int (*run_jobs)(const struct conf_options *, struct conf_shared *))
{
    struct conf_options one = *forms->options;
    struct pxr_error err = {0};
    int result = sweep_summary_read(&summary, one.sweep_path, &err) == PXR_OK ? 0 : 2;
    for (size_t i = 0; i < forms->count && result != 2 && !atomic_load(&progress->is_stopped);
         i++) {
        one.sweep_case = &forms->cases[i];
        bool was_stopped = atomic_load(&progress->is_stopped);
        memset(progress, 0, sizeof *progress);
        atomic_store(&progress->is_stopped, was_stopped);
        atomic_store(&shared->next_batch, 0);
        if (run_jobs(&one, shared) == 2)
            return 2;
        int noted = note_form(&one, forms->cases[i].name, &err);
        result = noted > result ? noted : result;
    }
    if (result == 2)
        fprintf(stderr, "conformance: %s\n", err.message);
    return result;
}

int conf_sweep(const struct conf_options *options, struct conf_shared *shared,
               int (*run_jobs)(const struct conf_options *, struct conf_shared *))
{
    struct forms forms = {.options = options};
    void *memory =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || options->jobs > MAX_JOBS)
        return 2;
    progress = memory;
    for (unsigned op = 0; op < PTX_OP_COUNT; op++)
        if (conf_wants(options, (enum ptx_op)op) && is_candidate((enum ptx_op)op))
            ptx_op_each_form((enum ptx_op)op, take_form, &forms);
    stop_on_signals();
    int result = sweep_forms(&forms, shared, run_jobs);
    sweep_summary_free(&summary);
    free(forms.cases);
    munmap(progress, sizeof *progress);
    return result;
}
