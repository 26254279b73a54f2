/* SPDX-License-Identifier: Apache-2.0
 *
 * See iteration_run.h.
 */
#include "tests/vector/iteration_run.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <llvm-c/Core.h>
#include <llvm-c/Orc.h>

#include "jit/cpu.h"
#include "tests/support/orc.h"
#include "tests/vector/poison.h"
#include "translator/pipeline.h"

#define RUN_SECONDS 5 /* one run takes microseconds */

typedef void (*kernel_fn)(void *a, void *b, void *c, uint32_t n, uint32_t nx, uint32_t ny);

/* ---- what a run may end in ---- */

enum ending { ENDED, FAULT, WRONG_ADDRESS, ARITHMETIC, ILLEGAL, NO_END, POISON };

static const char *const ending_names[] = {"ends",
                                           "calls rt_fault",
                                           "touches memory outside of the arrays",
                                           "divides by zero",
                                           "executes an illegal instruction",
                                           "does not end",
                                           "uses poison"};

static const char *const poison_words[POISON_USE_COUNT] = {
    [POISON_BRANCH] = " to branch",     [POISON_ADDRESS] = " as an address",
    [POISON_MASK] = " as a mask",       [POISON_DIVISOR] = " as a divisor",
    [POISON_STORED] = " and stores it", [POISON_ARGUMENT] = " as an argument"};

/* The way out of the current run when it cannot go on. */
static sigjmp_buf leave;
static volatile sig_atomic_t is_running;
static void *fault_address;
static enum poison_use poison_use;

/* Calls of functions that are not pure, in this run. */
static uint32_t call_count;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (!is_running) { /* the compiler has done it */
        signal(number, SIG_DFL);
        raise(number);
    }
    fault_address = info->si_addr;
    siglongjmp(leave, number == SIGFPE    ? ARITHMETIC
                      : number == SIGILL  ? ILLEGAL
                      : number == SIGALRM ? NO_END
                                          : WRONG_ADDRESS);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_NODEFER};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}

/* Generated code has no type signature before it. */
__attribute__((no_sanitize("function"))) static enum ending
run_kernel(kernel_fn kernel, const struct iteration_memory *memory,
           const struct iteration_size *size)
{
    volatile int ending = sigsetjmp(leave, 1);
    if (ending == ENDED) {
        call_count = 0;
        is_running = true;
        alarm(RUN_SECONDS);
        kernel(memory->array[0], memory->array[1], memory->array[2], size->n, size->nx, size->ny);
    }
    is_running = false;
    alarm(0);
    return (enum ending)ending;
}

/* ---- functions that iterations call ---- */

static void fault(void *thread, uint32_t status, uint64_t address)
{
    (void)thread;
    (void)status;
    (void)address;
    siglongjmp(leave, FAULT);
}

static void poison_check(uint32_t is_poison, uint32_t use)
{
    if (is_poison == 0)
        return;
    poison_use = (enum poison_use)use;
    siglongjmp(leave, POISON);
}

static int32_t outside_pure(int32_t value)
{
    return (int32_t)((uint32_t)value * 2654435761u ^ (uint32_t)value >> 7);
}

static int32_t outside(int32_t value)
{
    call_count++;
    return outside_pure(value);
}

static float outside_float(float value, int32_t power)
{
    call_count++;
    return value * (float)(power & 3) + 1.0f;
}

static uint64_t outside_long(void *pointer, uint64_t value, uint8_t byte)
{
    uint32_t word;
    call_count++;
    memcpy(&word, pointer, sizeof word);
    return value * 3 + word + byte;
}

static void outside_add(int32_t *sum, int32_t value)
{
    call_count++;
    __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
}

static enum pxr_status jit_failed(LLVMErrorRef error, struct pxr_error *err)
{
    if (error == NULL)
        return PXR_OK;
    char *message = LLVMGetErrorMessage(error);
    pxr_fail(err, PXR_COMPILE_FAILED, "the JIT: %s", message);
    LLVMDisposeErrorMessage(message);
    return PXR_COMPILE_FAILED;
}

static enum pxr_status define_functions(LLVMOrcLLJITRef jit, struct pxr_error *err)
{
    const struct orc_symbol functions[] = {{"rt_fault", (void *)(uintptr_t)fault},
                                           {POISON_FUNCTION, (void *)(uintptr_t)poison_check},
                                           {"outside", (void *)(uintptr_t)outside},
                                           {"outside_pure", (void *)(uintptr_t)outside_pure},
                                           {"outside_float", (void *)(uintptr_t)outside_float},
                                           {"outside_long", (void *)(uintptr_t)outside_long},
                                           {"outside_add", (void *)(uintptr_t)outside_add}};
    return jit_failed(orc_define(jit, functions, sizeof functions / sizeof *functions), err);
}

/* ---- compiling ---- */

static enum pxr_status create_jit(struct iteration_run *run, struct pxr_error *err)
{
    const struct jit_cpu *cpu;
    enum pxr_status status = jit_cpu_chosen(&cpu, err);
    if (status != PXR_OK)
        return status;
    LLVMTargetMachineRef machine =
        jit_cpu_machine(cpu->name, cpu->features, run->host.target->triple, LLVMCodeGenLevelLess);
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(
        builder, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
    status = jit_failed(LLVMOrcCreateLLJIT(&run->jit, builder), err);
    return status == PXR_OK ? define_functions(run->jit, err) : status;
}

/* Takes the module and its context. */
static enum pxr_status add_module(struct iteration_run *run, LLVMContextRef context,
                                  LLVMModuleRef module, struct pxr_error *err)
{
    LLVMOrcThreadSafeContextRef owner = LLVMOrcCreateNewThreadSafeContextFromLLVMContext(context);
    LLVMOrcThreadSafeModuleRef safe = LLVMOrcCreateNewThreadSafeModule(module, owner);
    LLVMOrcDisposeThreadSafeContext(owner);
    return jit_failed(
        LLVMOrcLLJITAddLLVMIRModule(run->jit, LLVMOrcLLJITGetMainJITDylib(run->jit), safe), err);
}

/* The same, where code is made in a third of the time: it is what the module says, literally. */
static enum pxr_status add_plain_code(struct iteration_run *run, LLVMContextRef context,
                                      LLVMModuleRef module, struct pxr_error *err)
{
    struct jit_target *target = run->host.target;
    LLVMMemoryBufferRef object = NULL;
    char *message = NULL;
    LLVMSetTarget(module, target->triple);
    LLVMSetDataLayout(module, target->data_layout);
    bool is_failed = LLVMTargetMachineEmitToMemoryBuffer(jit_target_quick(target), module,
                                                         LLVMObjectFile, &message, &object);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    if (!is_failed)
        return jit_failed(
            LLVMOrcLLJITAddObjectFile(run->jit, LLVMOrcLLJITGetMainJITDylib(run->jit), object),
            err);
    pxr_fail(err, PXR_COMPILE_FAILED, "%s", message);
    LLVMDisposeMessage(message);
    return PXR_COMPILE_FAILED;
}

/* Takes the module and its context. Only where LLVM's passes have run it makes good code, too: both
 * believe what a module says of itself. Plain code would be wrong there: a pass may take the number
 * of zeros for poison where there is no bit, and LLVM 22's quickest generator forgets that it was
 * frozen, and looks behind a vector in memory. */
static enum pxr_status compile(struct iteration_run *run, bool is_optimised, LLVMContextRef context,
                               LLVMModuleRef module, kernel_fn *kernel, struct pxr_error *err)
{
    char name[32];
    int len = snprintf(name, sizeof name, "kernel.%u", run->compiled++);
    LLVMSetValueName2(LLVMGetNamedFunction(module, "kernel"), name, (size_t)len);
    LLVMOrcExecutorAddress address = 0;
    enum pxr_status status = is_optimised ? add_module(run, context, module, err)
                                          : add_plain_code(run, context, module, err);
    if (status == PXR_OK)
        status = jit_failed(LLVMOrcLLJITLookup(run->jit, &address, name), err);
    *kernel = (kernel_fn)(uintptr_t)address;
    return status;
}

/* ---- the nest as it is ---- */

static enum pxr_status run_scalar(struct iteration_run *run, kernel_fn kernel,
                                  struct pxr_error *err)
{
    uint32_t count = iteration_case_size_count(run->c);
    run->expected = calloc(count, sizeof *run->expected);
    run->is_fault = calloc(count, sizeof *run->is_fault);
    run->calls = calloc(count, sizeof *run->calls);
    if (run->expected == NULL || run->is_fault == NULL || run->calls == NULL)
        return PXR_OUT_OF_MEMORY;
    for (uint32_t n = 0; n < count; n++) {
        struct iteration_size size = iteration_case_size(run->c, n);
        iteration_memory_fill(&run->memory, run->c, &size, false);
        enum ending ending = run_kernel(kernel, &run->memory, &size);
        run->is_fault[n] = ending == FAULT;
        run->calls[n] = call_count;
        if (ending != ENDED && ending != FAULT)
            return pxr_fail(err, PXR_INVALID_ARGUMENT, "%s: nx %u, ny %u, n %u: as it is, it %s",
                            run->c->name, size.nx, size.ny, size.n, ending_names[ending]);
        if (run->is_fault[n] != (run->c->expectation == ITERATION_FAULT))
            return pxr_fail(err, PXR_INVALID_ARGUMENT, "%s: nx %u, ny %u, n %u: as it is, it %s",
                            run->c->name, size.nx, size.ny, size.n, ending_names[ending]);
        run->expected[n] = malloc(iteration_memory_bytes(&run->memory) + 1);
        if (run->expected[n] == NULL)
            return PXR_OUT_OF_MEMORY;
        iteration_memory_copy(&run->memory, run->expected[n]);
    }
    return PXR_OK;
}

enum pxr_status iteration_run_init(struct iteration_run *run, const struct iteration_case *c,
                                   struct pxr_error *err)
{
    *run = (struct iteration_run){.c = c};
    catch_signals();
    enum pxr_status status = iteration_host_init(&run->host, err);
    if (status == PXR_OK)
        status = create_jit(run, err);
    if (status == PXR_OK)
        status = iteration_memory_init(&run->memory, c, err);
    if (status != PXR_OK)
        return status;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = NULL;
    kernel_fn kernel = NULL;
    status = iteration_nest_build(c, &run->host, context, &module, err);
    if (status == PXR_OK)
        status = compile(run, false, context, module, &kernel, err);
    return status == PXR_OK ? run_scalar(run, kernel, err) : status;
}

void iteration_run_fini(struct iteration_run *run)
{
    for (uint32_t n = 0; run->expected != NULL && n < iteration_case_size_count(run->c); n++)
        free(run->expected[n]);
    free(run->expected);
    free(run->is_fault);
    free(run->calls);
    iteration_memory_fini(&run->memory);
    if (run->jit != NULL)
        LLVMConsumeError(LLVMOrcDisposeLLJIT(run->jit));
    iteration_host_fini(&run->host);
}

/* ---- widened ---- */

/* Describes in words where an address is. */
static void describe_address(const struct iteration_memory *memory, char *words, size_t words_bytes)
{
    const uint8_t *address = fault_address;
    for (int i = 0; i < ITERATION_ARRAYS; i++) {
        ptrdiff_t distance = address - memory->array[i];
        if (distance >= -65536 && distance < (ptrdiff_t)memory->bytes[i] + 65536) {
            snprintf(words, words_bytes, " (%c%+td, of %zu bytes)", 'a' + i, distance,
                     memory->bytes[i]);
            return;
        }
    }
    snprintf(words, words_bytes, " (%p)", fault_address);
}

/* Whether the memory after a run is the memory after the unchanged nest. */
static bool check(const struct iteration_run *run, uint32_t number, char *words, size_t words_bytes)
{
    if (run->is_fault[number])
        snprintf(words, words_bytes, "does not fault");
    else if (call_count != run->calls[number])
        snprintf(words, words_bytes, "%u calls instead of %u", call_count, run->calls[number]);
    else
        return iteration_memory_check(&run->memory, run->expected[number], words, words_bytes);
    return false;
}

static bool run_size(struct iteration_run *run, kernel_fn kernel, uint32_t number, bool is_at_end,
                     struct iteration_outcome *outcome)
{
    char words[256] = "";
    struct iteration_size size = iteration_case_size(run->c, number);
    iteration_memory_fill(&run->memory, run->c, &size, is_at_end);
    enum ending ending = run_kernel(kernel, &run->memory, &size);
    if (ending == FAULT && run->is_fault[number])
        return true;
    outcome->is_astray = ending == WRONG_ADDRESS;
    if (outcome->is_astray)
        describe_address(&run->memory, words, sizeof words);
    if (ending == POISON)
        snprintf(words, sizeof words, "%s", poison_words[poison_use]);
    if (ending == ENDED && check(run, number, words, sizeof words))
        return true;
    snprintf(outcome->message, sizeof outcome->message, "nx %u, ny %u, n %u: %s%s", size.nx,
             size.ny, size.n, ending == ENDED ? "" : ending_names[ending], words);
    return false;
}

static void note(struct iteration_outcome *outcome, const char *what, const char *message)
{
    snprintf(outcome->message, sizeof outcome->message, "%s%.300s", what, message);
    for (char *at = outcome->message; *at != '\0'; at++)
        *at = *at == '\n' ? ' ' : *at;
}

/* The host's CPU, with vectors as long as the configuration says. */
static struct tr_target make_target(const struct iteration_host *host,
                                    const struct iteration_config *config)
{
    return config->vector_bits == 0 ? host->target->cpu : tr_target_find("", config->vector_bits);
}

/* Vectors have several groups, but where rows are shorter. */
#define LEAST_DIVISOR 4

static struct tr_vector_options make_options(const struct tr_target *target,
                                             const struct iteration_config *config)
{
    return (struct tr_vector_options){.width = config->width,
                                      .least_divisor = LEAST_DIVISOR,
                                      .jam = config->jam,
                                      .target = target,
                                      .skipped = config->skipped,
                                      .is_forced = true,
                                      .is_poisoned = config->is_poisoned,
                                      .function_length = config->is_concise ? UINT32_MAX : 0,
                                      .seed = config->seed,
                                      .seed_site = config->seed_site};
}

static enum pxr_status make_prepared(const struct iteration_case *c,
                                     const struct iteration_host *host,
                                     const struct iteration_config *config, LLVMContextRef context,
                                     LLVMModuleRef *module, struct pxr_error *err)
{
    enum pxr_status status = iteration_nest_build(c, host, context, module, err);
    struct iteration_size size = iteration_case_size(c, config->known_size);
    if (status == PXR_OK && config->is_size_known)
        iteration_nest_fix_size(*module, &size);
    return status == PXR_OK ? iteration_nest_prepare(*module, err) : status;
}

static enum pxr_status widen_prepared(LLVMModuleRef module, const struct iteration_host *host,
                                      const struct iteration_config *config,
                                      struct tr_vector_report *report, struct pxr_error *err)
{
    struct tr_target target = make_target(host, config);
    struct tr_vector_options options = make_options(&target, config);
    LLVMTypeRef i1 = LLVMInt1TypeInContext(LLVMGetModuleContext(module));
    options.streaming.of_rows = options.streaming.of_all = LLVMConstInt(i1, 1, false);
    enum pxr_status status = iteration_nest_widen(module, &options, report, err);
    if (status == PXR_OK && config->is_optimised)
        status = tr_run_passes(module, "default<O2>", host->target->machine, err);
    if (status == PXR_OK) {
        tr_mend_one_lane_stores(module);
        tr_mend_bit_choices(module);
        tr_mend_shifted_masks(module);
        tr_mend_element_numbers(module);
    }
    return status;
}

/* Whether what should be widened is. */
static bool is_as_expected(const struct iteration_case *c, const struct tr_vector_report *report,
                           bool is_irreducible, struct iteration_outcome *outcome)
{
    const char *words = report->explanation == NULL ? "" : report->explanation;
    outcome->is_widened = report->widened_count > 0;
    outcome->width = report->width;
    outcome->jam = report->jam;
    outcome->seed_sites = report->seed_sites;
    bool is_scalar = report->nest_count == 0 || report->widened_count < report->nest_count;
    if (is_scalar && c->expectation != ITERATION_SCALAR && !(c->may_be_scalar && is_irreducible))
        note(outcome, "not widened: ", words);
    else if (c->expectation == ITERATION_SCALAR && outcome->is_widened)
        note(outcome, "widened, but should not be: ", words);
    else
        return true;
    return false;
}

/* Whether the compiled code is for this size. */
static bool is_for_size(const struct iteration_case *c, const struct iteration_config *config,
                        uint32_t n)
{
    struct iteration_size known = iteration_case_size(c, config->known_size);
    struct iteration_size size = iteration_case_size(c, n);
    return !config->is_size_known || (known.nx == size.nx && known.ny == size.ny);
}

static bool run_widened(struct iteration_run *run, const struct iteration_config *config,
                        kernel_fn kernel, struct iteration_outcome *outcome)
{
    outcome->was_run = true;
    for (uint32_t n = 0; n < iteration_case_size_count(run->c); n++)
        for (int is_at_end = 0; is_at_end < 2 && is_for_size(run->c, config, n); is_at_end++)
            if (!run_size(run, kernel, n, is_at_end, outcome))
                return false;
    return true;
}

/* Removes code that LLVM can show to be unneeded, or the same. Not for any machine. */
#define CLEANUP                                                                                    \
    "function(early-cse<memssa>,instcombine<no-verify-fixpoint>,gvn,simplifycfg,"                  \
    "instcombine<no-verify-fixpoint>,adce)"

static void dispose(LLVMContextRef context, LLVMModuleRef module)
{
    if (module != NULL)
        LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

/* A number made of the widened code, tidied up; 0: none. */
static uint64_t hash_widened(const struct iteration_run *run, const struct iteration_config *config)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    struct tr_vector_report report = {0};
    LLVMModuleRef module = NULL;
    LLVMContextRef context = LLVMContextCreate();
    enum pxr_status status = make_prepared(run->c, &run->host, config, context, &module, NULL);
    if (status == PXR_OK)
        status = widen_prepared(module, &run->host, config, &report, NULL);
    if (status == PXR_OK)
        status = tr_run_passes(module, CLEANUP, NULL, NULL);
    char *text = module == NULL ? NULL : LLVMPrintModuleToString(module);
    for (const char *at = text; at != NULL && *at != '\0'; at++)
        hash = (hash ^ (uint8_t)*at) * UINT64_C(1099511628211);
    LLVMDisposeMessage(text);
    free(report.explanation);
    dispose(context, module);
    return status == PXR_OK ? hash : 0;
}

void iteration_run_config(struct iteration_run *run, const struct iteration_config *config,
                          struct iteration_outcome *outcome)
{
    struct pxr_error err = {0};
    struct tr_vector_report report = {0};
    bool is_irreducible = false;
    *outcome = (struct iteration_outcome){0};
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = NULL;
    kernel_fn kernel = NULL;
    enum pxr_status status = make_prepared(run->c, &run->host, config, context, &module, &err);
    if (status == PXR_OK) {
        is_irreducible = iteration_nest_is_irreducible(module);
        status = widen_prepared(module, &run->host, config, &report, &err);
    }
    bool is_good = status == PXR_OK && is_as_expected(run->c, &report, is_irreducible, outcome);
    if (is_good && config->is_poisoned)
        status = poison_instrument(LLVMGetNamedFunction(module, "kernel"), &err);
    if (is_good && status == PXR_OK)
        status = compile(run, config->is_optimised, context, module, &kernel, &err);
    else
        dispose(context, module);
    if (status != PXR_OK)
        note(outcome, "", err.message);
    else if (is_good)
        outcome->is_right = run_widened(run, config, kernel, outcome);
    if (outcome->is_right && config->is_code_kept)
        outcome->code = hash_widened(run, config);
    free(report.explanation);
}

/* The widened module, or the one to widen, as text: LLVMDisposeMessage. NULL: see err. */
static char *make_text(const struct iteration_case *c, const struct iteration_config *config,
                       bool is_prepared_only, struct tr_vector_report *report,
                       struct pxr_error *err)
{
    struct iteration_host host = {0};
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = NULL;
    char *text = NULL;
    enum pxr_status status = iteration_host_init(&host, err);
    if (status == PXR_OK)
        status = make_prepared(c, &host, config, context, &module, err);
    if (status == PXR_OK && !is_prepared_only)
        status = widen_prepared(module, &host, config, report, err);
    if (status == PXR_OK)
        text = LLVMPrintModuleToString(module);
    dispose(context, module);
    if (host.target != NULL)
        iteration_host_fini(&host);
    return text;
}

enum pxr_status iteration_print(const struct iteration_case *c,
                                const struct iteration_config *config, bool is_prepared_only,
                                struct pxr_error *err)
{
    struct tr_vector_report report = {0};
    char *text = make_text(c, config, is_prepared_only, &report, err);
    if (text != NULL)
        fputs(text, stdout);
    if (report.explanation != NULL)
        printf("; %s\n", report.explanation);
    LLVMDisposeMessage(text);
    free(report.explanation);
    return text != NULL ? PXR_OK : PXR_COMPILE_FAILED;
}

bool iteration_becomes_same(const struct iteration_case *c, const struct iteration_config *a,
                            const struct iteration_config *b)
{
    struct tr_vector_report reports[2] = {0};
    struct pxr_error ignored = {0};
    char *texts[] = {make_text(c, a, false, &reports[0], &ignored),
                     make_text(c, b, false, &reports[1], &ignored)};
    bool is_same = texts[0] != NULL && texts[1] != NULL && strcmp(texts[0], texts[1]) == 0;
    for (unsigned i = 0; i < 2; i++) {
        LLVMDisposeMessage(texts[i]);
        free(reports[i].explanation);
    }
    return is_same;
}
