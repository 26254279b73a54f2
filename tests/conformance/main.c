/* SPDX-License-Identifier: Apache-2.0
 *
 * The program `conformance`: every form of every row of the op table, run and compared with the
 * oracle. README.md says how.
 */
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scheduler/scheduler.h"
#include "tests/conformance/conformance.h"
#include "tests/conformance/golden.h"
#include "tests/conformance/sweep.h"

#define DEFAULT_CASES  10000
#define DEFAULT_KEPT   256
#define DRIVER_SECONDS 60 /* for one kernel on a GPU */
#define MAX_STRIDE     4096
#define MAX_JOBS       64

/* ---- shared by all parts ---- */

const char *conf_row_name(enum ptx_op op)
{
    static const char *const names[PTX_OP_COUNT] = {
#define OP(ID, ...) [PTX_OP_##ID] = #ID,
#include "ptx/ops.def"
#undef OP
    };
    return names[op];
}

void conf_note(struct conf_row *row, const char *format, ...)
{
    row->failures++;
    if (row->first[0] != '\0')
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(row->first, sizeof row->first, format, args);
    va_end(args);
}

/* Of every `share` kernels one is somebody's. */
static uint64_t take_batch(const struct conf_run *run)
{
    return atomic_fetch_add(&run->shared->next_batch, run->options->share);
}

bool conf_claim(struct conf_run *run)
{
    if (run->batch++ != run->claimed)
        return false;
    if (run->options->driver != NULL)
        alarm(DRIVER_SECONDS);
    run->claimed = take_batch(run);
    return true;
}

/* Only its number decides whether a kernel is jammed. */
struct runner *conf_runner(const struct conf_run *run)
{
    uint64_t number = run->batch / run->options->share;
    bool is_narrow = run->narrow != NULL && number % run->options->jam_share != 0;
    return is_narrow ? run->narrow : run->runner;
}

/* name: of a row or an instruction; ending in '*', how it begins. */
static bool is_named(const char *name, enum ptx_op op)
{
    size_t len = strlen(name);
    bool is_whole = len == 0 || name[len - 1] != '*';
    len = is_whole ? len + 1 : len - 1;
    return strncmp(name, ptx_op_name(op), len) == 0 || strncmp(name, conf_row_name(op), len) == 0;
}

bool conf_wants(const struct conf_options *options, enum ptx_op op)
{
    const struct ptx_op_info *info = &ptx_op_table[op];
    if (info->fidelity == PTX_FIDELITY_UNSUPPORTED || (options->families >> info->family & 1) == 0)
        return false;
    return (options->row == NULL || is_named(options->row, op)) &&
           (options->without == NULL || !is_named(options->without, op));
}

bool conf_has_target(const struct conf_options *options, unsigned min_sm)
{
    return min_sm >= options->min_sm && min_sm <= options->max_sm;
}

/* ---- one job ---- */

static enum pxr_status open_runners(struct conf_run *run, unsigned job, struct pxr_error *err)
{
    const struct conf_options *options = run->options;
    struct runner_build build = {.collapse = options->collapse,
                                 .width = pxr_options_get()->width,
                                 .jam = pxr_options_get()->jam,
                                 .workers = 1};
    enum pxr_status status = options->driver != NULL
                                 ? runner_open_driver(options->driver, &run->runner, err)
                                 : runner_open_inprocess(&build, &run->runner, err);
    if (status == PXR_OK && options->jam_share > 1) {
        build.jam = 1;
        status = runner_open_inprocess(&build, &run->narrow, err);
    }
    if (status == PXR_OK)
        status = runner_open_oracle(0, &run->oracle, err);
    if (status == PXR_OK && options->golden != CONF_GOLDEN_NONE)
        status = conf_golden_open(options, job, &run->golden, err);
    if (status == PXR_OK && run->golden != NULL)
        atomic_store(&run->shared->listed_absent, conf_golden_absent_count(run->golden));
    return status;
}

static void close_runners(const struct conf_run *run)
{
    runner_close(run->runner);
    runner_close(run->narrow);
    runner_close(run->oracle);
}

/* An error of a kernel ends a process's use of a GPU; kernels that may run out of a GPU's stack
 * come last. */
static bool is_risky(enum ptx_op op)
{
    const char *name = ptx_op_name(op);
    return strcmp(name, "alloca") == 0 || strncmp(name, "stack", 5) == 0;
}

static void run_rows(struct conf_run *run, bool risky_ones)
{
    for (unsigned i = 0; i < PTX_OP_COUNT; i++) {
        enum ptx_op op = (enum ptx_op)i;
        if (!conf_wants(run->options, op) || is_risky(op) != risky_ones)
            continue;
        if (conf_is_scalar(op))
            conf_run_scalar_row(run, op);
        else
            conf_run_machine_row(run, op);
    }
}

static int run_job(const struct conf_options *options, struct conf_shared *shared, unsigned job)
{
    struct conf_run run = {.options = options,
                           .shared = shared,
                           .rows = shared->rows + (size_t)job * PTX_OP_COUNT,
                           .is_first = job == 0};
    struct pxr_error err = {0};
    enum pxr_status status = open_runners(&run, job, &err);
    if (options->driver != NULL)
        signal(SIGALRM, SIG_DFL); /* kills a job whose kernel hangs, see conf_claim */
    if (options->sweep_case != NULL && status == PXR_OK) {
        conf_sweep_chunks(&run, options->sweep_case);
        close_runners(&run);
        return 0;
    }
    run.claimed = take_batch(&run);
    if (options->fault_share > 0 && status == PXR_OK) {
        unsigned missed = conf_run_faults(&run, options->fault_share);
        close_runners(&run);
        fflush(stdout);
        return missed > 0;
    }
    if (status == PXR_OK) {
        run_rows(&run, false);
        run_rows(&run, true);
    }
    if (run.golden != NULL && status == PXR_OK)
        status = conf_golden_close(run.golden, &err);
    close_runners(&run);
    if (status != PXR_OK)
        fprintf(stderr, "conformance: %s\n", err.message);
    return status == PXR_OK ? 0 : 2;
}

/* ---- all jobs ---- */

static int run_jobs(const struct conf_options *options, struct conf_shared *shared)
{
    pid_t children[MAX_JOBS];
    int result = 0;
    if (options->jobs == 1)
        return run_job(options, shared, 0);
    for (unsigned i = 0; i < options->jobs; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            setvbuf(stdout, NULL, _IOLBF, 0); /* so that the jobs' lines stay whole */
            _exit(run_job(options, shared, i));
        }
    }
    for (unsigned i = 0; i < options->jobs; i++) {
        int state = 0;
        if (children[i] < 0 || waitpid(children[i], &state, 0) < 0 || !WIFEXITED(state) ||
            WEXITSTATUS(state) > 1) {
            fprintf(stderr, "conformance: job %u died (%x)\n", i, (unsigned)state);
            result = 2;
        } else if (WEXITSTATUS(state) == 1 && result == 0) {
            result = 1;
        }
    }
    return result;
}

static struct conf_row merged(const struct conf_shared *shared, unsigned jobs, unsigned op)
{
    struct conf_row sum = {0};
    for (unsigned i = 0; i < jobs; i++) {
        const struct conf_row *row = &shared->rows[(size_t)i * PTX_OP_COUNT + op];
        sum.forms += row->forms;
        sum.samples += row->samples;
        sum.failures += row->failures;
        sum.refused += row->refused;
        sum.absent += row->absent;
        if (row->max_error > sum.max_error) {
            sum.max_error = row->max_error;
            sum.max_allowed = row->max_allowed;
            memcpy(sum.max_inputs, row->max_inputs, sizeof sum.max_inputs);
        }
        if (sum.first[0] == '\0')
            memcpy(sum.first, row->first, sizeof sum.first);
    }
    return sum;
}

static bool is_complete(const struct conf_options *options)
{
    return options->row == NULL && options->families == UINT64_MAX;
}

static int report(const struct conf_options *options, const struct conf_shared *shared)
{
    struct conf_row total = {0};
    unsigned rows = 0;
    unsigned bad_rows = 0;
    for (unsigned op = 0; op < PTX_OP_COUNT; op++) {
        if (!conf_wants(options, (enum ptx_op)op))
            continue;
        struct conf_row row = merged(shared, options->jobs, op);
        rows++;
        bad_rows += row.failures > 0;
        total.forms += row.forms;
        total.samples += row.samples;
        total.failures += row.failures;
        total.absent += row.absent;
        if (row.failures == 0 && !options->is_verbose)
            continue;
        printf("%-20s %6llu forms %10llu samples %8llu failures", conf_row_name((enum ptx_op)op),
               (unsigned long long)row.forms, (unsigned long long)row.samples,
               (unsigned long long)row.failures);
        if (row.max_allowed > 0)
            printf("  largest error %.4f of the bound, at %s", row.max_error, row.max_inputs);
        printf("%s%s\n", row.failures > 0 ? "\n    " : "", row.first);
    }
    printf("%u rows, %llu forms, %llu samples; %u rows with failures\n", rows,
           (unsigned long long)total.forms, (unsigned long long)total.samples, bad_rows);
    if (options->golden != CONF_GOLDEN_COMPARE)
        return bad_rows > 0;
    uint64_t listed = atomic_load(&shared->listed_absent);
    printf("%llu of the %llu results that the golden file is said to lack were asked for\n",
           (unsigned long long)total.absent, (unsigned long long)listed);
    return bad_rows > 0 || (is_complete(options) && total.absent != listed);
}

/* ---- command line ---- */

static bool add_families(struct conf_options *options, const char *names)
{
    for (size_t len; *names != '\0'; names += len + (names[len] == ',')) {
        len = strcspn(names, ",");
        bool is_known = false;
        for (unsigned i = 0; i < PTX_FAMILY_COUNT; i++) {
            const char *name = ptx_family_names[i];
            if (strlen(name) == len && strncmp(name, names, len) == 0) {
                options->families |= UINT64_C(1) << i;
                is_known = true;
            }
        }
        if (!is_known)
            return false;
    }
    return true;
}

static void usage(FILE *file)
{
    fputs(
        "conformance [options]\n"
        "  --row NAME            one row of the op table, or all rows of one instruction; NAME*: "
        "all\n"
        "                        that begin so\n"
        "  --without NAME        not these\n"
        "  --family NAME,...     only these families\n"
        "  --backend inprocess|driver:PATH   what to test (default: inprocess)\n"
        "  --collapse auto|precise|flat|hierarchical|vector   in process (default: precise)\n"
        "  --cases N             random samples of a form (default: 10000)\n"
        "  --known N             N samples of a form, as constants of the kernel (scalar "
        "families)\n"
        "  --jam-share N         vectors of threads side by side in one kernel in N (default: 1)\n"
        "  --share N             one kernel in N (default: 1, all)\n"
        "  --jobs N              processes (default: one per CPU)\n"
        "  --golden write DIR | --golden compare DIR\n"
        "  --golden-samples N    kept of every case (default: 256)\n"
        "  --golden-cases N      what --cases was when they were kept, no more than now: all "
        "samples\n"
        "                        are compared with the oracle, too\n"
        "  --base PTX/SM         lowest version and target of modules, such as 88/90\n"
        "  --min-sm N            no forms that need only an earlier target\n"
        "  --max-sm N            no forms that need a later target\n"
        "  --faults SHARE        seed faults; one in SHARE pairs of row and fault (1: all)\n"
        "  --turns N             of faults: one row in N, those of PTXRUN_TEST_TURN (default: "
        "all)\n"
        "  --excuses LIST        of faults that no program can see\n"
        "  --list                prints the lines that excuse what nothing has shown\n"
        "  --sweep FILE          all inputs of forms with one 32-bit source; adds to the summary\n"
        "  --stride N            one in about N inputs (with --sweep)\n"
        "  --all-forms           the whole product of modifiers of memory instructions\n"
        "  --verbose             a line for every row\n",
        file);
}

static bool take_collapse(struct conf_options *options, const char *name)
{
    unsigned i = 0;
    while (i < PXR_COLLAPSE_COUNT && strcmp(pxr_collapse_name((enum pxr_collapse)i), name) != 0)
        i++;
    options->collapse = (enum pxr_collapse)i;
    return i < PXR_COLLAPSE_COUNT;
}

static bool take_option(struct conf_options *options, int option, char **argv)
{
    switch (option) {
    case 'r':
        options->row = optarg;
        return true;
    case 'o':
        options->without = optarg;
        return true;
    case 'f':
        return add_families(options, optarg);
    case 'b':
        if (strncmp(optarg, "driver:", 7) == 0)
            options->driver = optarg + 7;
        return options->driver != NULL || strcmp(optarg, "inprocess") == 0;
    case 'C':
        return take_collapse(options, optarg);
    case 'c':
        options->cases = strtoul(optarg, NULL, 10);
        return true;
    case 'k':
        options->known = strtoul(optarg, NULL, 10);
        return options->known > 0;
    case 'J':
        options->jam_share = (unsigned)strtoul(optarg, NULL, 10);
        return options->jam_share > 0 && options->driver == NULL;
    case 'S':
        options->share = (unsigned)strtoul(optarg, NULL, 10);
        return options->share > 0;
    case 'j':
        options->jobs = (unsigned)strtoul(optarg, NULL, 10);
        return options->jobs > 0 && options->jobs <= MAX_JOBS;
    case 'g':
        options->golden = strcmp(optarg, "write") == 0     ? CONF_GOLDEN_WRITE
                          : strcmp(optarg, "compare") == 0 ? CONF_GOLDEN_COMPARE
                                                           : CONF_GOLDEN_NONE;
        options->golden_dir = argv[optind++];
        return options->golden != CONF_GOLDEN_NONE && options->golden_dir != NULL;
    case 'a':
        options->all_forms = true;
        return true;
    case 'w':
        options->sweep_path = optarg;
        return true;
    case 't':
        options->sweep_stride = strtoull(optarg, NULL, 10);
        return options->sweep_stride > 0 && options->sweep_stride <= MAX_STRIDE;
    case 'n':
        options->golden_samples = strtoul(optarg, NULL, 10);
        return options->golden_samples > 0;
    case 'G':
        options->golden_cases = strtoul(optarg, NULL, 10);
        return options->golden_cases > 0;
    case 'i':
        options->min_sm = (unsigned)strtoul(optarg, NULL, 10);
        return true;
    case 'm':
        options->max_sm = (unsigned)strtoul(optarg, NULL, 10);
        return true;
    case 'B':
        return sscanf(optarg, "%u/%u", &options->base_ptx, &options->base_sm) == 2;
    case 's':
        options->fault_share = (unsigned)strtoul(optarg, NULL, 10);
        return options->fault_share > 0 && options->driver == NULL;
    case 'T':
        options->turns = (unsigned)strtoul(optarg, NULL, 10);
        return options->turns > 0;
    case 'e':
        options->excuses_path = optarg;
        return true;
    case 'l':
        options->is_list = true;
        return true;
    case 'v':
        options->is_verbose = true;
        return true;
    default:
        return false;
    }
}

static bool parse_options(int argc, char **argv, struct conf_options *options)
{
    static const struct option names[] = {
        {"row", required_argument, NULL, 'r'},
        {"without", required_argument, NULL, 'o'},
        {"family", required_argument, NULL, 'f'},
        {"backend", required_argument, NULL, 'b'},
        {"collapse", required_argument, NULL, 'C'},
        {"cases", required_argument, NULL, 'c'},
        {"known", required_argument, NULL, 'k'},
        {"jam-share", required_argument, NULL, 'J'},
        {"share", required_argument, NULL, 'S'},
        {"jobs", required_argument, NULL, 'j'},
        {"golden", required_argument, NULL, 'g'},
        {"golden-samples", required_argument, NULL, 'n'},
        {"golden-cases", required_argument, NULL, 'G'},
        {"min-sm", required_argument, NULL, 'i'},
        {"sweep", required_argument, NULL, 'w'},
        {"stride", required_argument, NULL, 't'},
        {"base", required_argument, NULL, 'B'},
        {"max-sm", required_argument, NULL, 'm'},
        {"faults", required_argument, NULL, 's'},
        {"turns", required_argument, NULL, 'T'},
        {"excuses", required_argument, NULL, 'e'},
        {"list", no_argument, NULL, 'l'},
        {"all-forms", no_argument, NULL, 'a'},
        {"verbose", no_argument, NULL, 'v'},
        {NULL, 0, NULL, 0},
    };
    *options = (struct conf_options){.collapse = PXR_COLLAPSE_PRECISE,
                                     .cases = DEFAULT_CASES,
                                     .jam_share = 1,
                                     .share = 1,
                                     .turns = 1,
                                     .golden_samples = DEFAULT_KEPT,
                                     .max_sm = UINT_MAX,
                                     .sweep_stride = 1,
                                     .jobs = sch_usable_cpus()};
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;)
        if (!take_option(options, option, argv))
            return false;
    if (options->families == 0)
        options->families = UINT64_MAX;
    bool may_have_golden = options->golden == CONF_GOLDEN_COMPARE && options->jam_share == 1 &&
                           options->golden_cases <= options->cases;
    bool may_be_known = options->golden == CONF_GOLDEN_NONE && options->fault_share == 0;
    return optind == argc && (options->golden_cases == 0 || may_have_golden) &&
           (options->known == 0 || may_be_known);
}

int main(int argc, char **argv)
{
    struct conf_options options;
    if (!parse_options(argc, argv, &options)) {
        usage(stderr);
        return 2;
    }
    size_t size =
        sizeof(struct conf_shared) + (size_t)options.jobs * PTX_OP_COUNT * sizeof(struct conf_row);
    struct conf_shared *shared =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 2;
    if (options.sweep_path != NULL)
        return conf_sweep(&options, shared, run_jobs);
    int result = run_jobs(&options, shared);
    struct pxr_error err = {0};
    if (options.golden == CONF_GOLDEN_WRITE && conf_golden_merge(&options, &err) != PXR_OK) {
        fprintf(stderr, "conformance: %s\n", err.message);
        result = 2;
    }
    int bad = options.fault_share > 0 ? 0 : report(&options, shared);
    return result != 0 ? result : bad;
}
