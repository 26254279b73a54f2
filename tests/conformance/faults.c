/* SPDX-License-Identifier: Apache-2.0
 *
 * Seeds faults into the translation of every row they fit and expects the row's cases to show them.
 * A fault that changes nothing a program can see is excused by a list, with the reason.
 */
#include "tests/conformance/faults.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/conformance.h"
#include "tests/conformance/direct.h"
#include "tests/conformance/machine_case.h"
#include "tests/support/excuses.h"
#include "tests/support/turn.h"

#define PICKED        64  /* cases of a row that faults are tried on */
#define FAULT_SAMPLES 400 /* random ones, besides the edges */
#define MAX_SITES     4   /* of one kind of change in LLVM's code, per case */
#define MAX_REWRITES  64

/* ---- the hooks ---- */

static bool is_tested(const struct conf_seeded *seeded, int line)
{
    for (unsigned i = 0; i < seeded->line_count; i++)
        if (line >= seeded->lines[i][0] && line <= seeded->lines[i][1])
            return true;
    return false;
}

static void rewrite(void *data, struct ptx_inst *inst)
{
    static struct fault_operands rooms[64];
    static unsigned next_room;
    struct conf_seeded *seeded = data;
    if (seeded->fault->rewrite == NULL || inst->op != seeded->op || !is_tested(seeded, inst->line))
        return;
    struct fault_operands *room = &rooms[next_room++ % 64];
    seeded->applied += seeded->fault->rewrite(inst, room);
}

/* Whether the fault fits; tried on a copy, because mutate changes or removes it. */
static bool fits(const struct conf_fault *fault, LLVMValueRef inst)
{
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst));
    LLVMBuilderRef builder =
        LLVMCreateBuilderInContext(LLVMGetModuleContext(LLVMGetGlobalParent(function)));
    LLVMPositionBuilderBefore(builder, inst);
    LLVMValueRef copy = LLVMInstructionClone(inst);
    LLVMInsertIntoBuilder(builder, copy);
    LLVMDisposeBuilder(builder);
    if (fault->mutate(copy))
        return true;
    LLVMInstructionEraseFromParent(copy);
    return false;
}

static bool mutate_function(struct conf_seeded *seeded, LLVMValueRef function, unsigned *site)
{
    LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
    for (; block != NULL; block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef next;
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL; inst = next) {
            next = LLVMGetNextInstruction(inst);
            bool is_place = is_tested(seeded, (int)LLVMGetDebugLocLine(inst)) &&
                            LLVMIsATerminatorInst(inst) == NULL &&
                            LLVMGetInstructionOpcode(inst) != LLVMPHI && fits(seeded->fault, inst);
            if (is_place && (*site)++ == seeded->site)
                return seeded->fault->mutate(inst);
        }
    }
    return false;
}

static void mutate(void *data, struct LLVMOpaqueModule *module)
{
    struct conf_seeded *seeded = data;
    unsigned site = 0;
    if (seeded->fault->mutate == NULL)
        return;
    LLVMValueRef function = LLVMGetFirstFunction(module);
    for (; function != NULL && seeded->applied == 0; function = LLVMGetNextFunction(function))
        seeded->applied += mutate_function(seeded, function, &site);
}

/* ---- cases of a row ---- */

/* Up to PICKED cases: half of them plain ones, half variants, spread over all of the row. */
struct picked {
    struct conf_case cases[PICKED];
    struct machine_case machine_cases[PICKED];
    uint64_t fits[PICKED]; /* bit n: the n-th rewrite changes the instruction */
    unsigned count;
    unsigned seen[2];  /* plain, variants */
    unsigned total[2]; /* known after the first time through */
    unsigned number;   /* of machine cases */
};

/* Of each kind PICKED / 2; the multiplier keeps clear of the period of a form's variants. */
static bool is_picked(struct picked *picked, bool is_variant)
{
    unsigned n = picked->seen[is_variant]++;
    unsigned total = picked->total[is_variant];
    return total > 0 && picked->count < PICKED &&
           (total <= PICKED / 2 || (uint64_t)n * 7919 % total < PICKED / 2);
}

static bool pick_case(const struct conf_case *made, void *data)
{
    struct picked *picked = data;
    if (is_picked(picked, made->is_variant))
        picked->cases[picked->count++] = *made;
    return true;
}

static bool pick_form(const struct ptx_form *form, void *data)
{
    struct picked *picked = data;
    bool is_known;
    if (!is_picked(picked, false))
        return true;
    struct machine_case made;
    for (unsigned n = 0;
         picked->count < PICKED && machine_case_make(form, n, picked->number, &made, &is_known);
         n++) {
        picked->number++;
        picked->machine_cases[picked->count++] = made;
    }
    return true;
}

static void pick(struct picked *picked, enum ptx_op op, bool is_scalar)
{
    *picked = (struct picked){0};
    for (unsigned pass = 0; pass < 2; pass++) {
        memset(picked->seen, 0, sizeof picked->seen);
        if (is_scalar)
            conf_each_scalar_case(op, pick_case, picked);
        else
            ptx_op_each_form(op, pick_form, picked);
        memcpy(picked->total, picked->seen, sizeof picked->total);
    }
}

/* The rewrites that fit the case's instruction, tried on copies of it. */
static uint64_t find_fits(const struct ptx_inst *inst)
{
    uint64_t found = 0;
    for (unsigned i = 0; conf_rewrites[i].name != NULL && i < MAX_REWRITES; i++) {
        struct fault_operands room;
        struct ptx_inst copy = *inst;
        if (conf_rewrites[i].rewrite(&copy, &room))
            found |= UINT64_C(1) << i;
    }
    return found;
}

static void fit_scalar(struct picked *picked)
{
    for (unsigned i = 0; i < picked->count; i++) {
        struct conf_direct *direct = NULL;
        if (conf_direct_open(&picked->cases[i], 1, &direct, NULL) != PXR_OK)
            continue;
        const struct ptx_inst *inst = conf_direct_select(direct, 0);
        if (inst != NULL)
            picked->fits[i] = find_fits(inst);
        conf_direct_close(direct);
    }
}

static void fit_machine(struct picked *picked, struct conf_seeded *seeded)
{
    for (unsigned i = 0; i < picked->count; i++) {
        char *text = conf_machine_text(&picked->machine_cases[i], 1, seeded);
        struct ptx_module *module = NULL;
        if (text != NULL)
            ptx_parse(pxr_str_from(text), "case.ptx", &module, NULL);
        free(text);
        for (uint32_t f = 0; module != NULL && f < module->func_count; f++) {
            const struct ptx_func *func = module->funcs[f];
            for (uint32_t k = 0; k < func->stmt_count; k++)
                if (func->stmts[k].kind == PTX_STMT_INST && func->stmts[k].inst.op == seeded->op &&
                    is_tested(seeded, func->stmts[k].inst.line))
                    picked->fits[i] |= find_fits(&func->stmts[k].inst);
        }
        ptx_module_destroy(module);
    }
}

/* ---- one fault in some cases ---- */

enum outcome { OUTCOME_MISPLACED, OUTCOME_REFUSED, OUTCOME_MISSED, OUTCOME_CAUGHT };

/* The cases of `which` (bits) that read the same inputs as the first of them are run together and
 * taken out of it. */
static enum outcome try_cases(struct conf_run *run, const struct picked *picked, uint64_t *which,
                              bool is_scalar)
{
    struct conf_seeded *seeded = run->seeded;
    struct conf_row *row = &run->rows[seeded->op];
    struct conf_case *batch = calloc(CONF_BATCH, sizeof *batch);
    unsigned count = 0;
    unsigned first = (unsigned)__builtin_ctzll(*which);
    *row = (struct conf_row){0};
    seeded->applied = 0;
    seeded->serial++;
    for (unsigned i = first; is_scalar && batch != NULL && i < picked->count && count < CONF_BATCH;
         i++) {
        if ((*which >> i & 1) == 0 || !conf_same_inputs(&picked->cases[first], &picked->cases[i]))
            continue;
        batch[count++] = picked->cases[i];
        *which &= ~(UINT64_C(1) << i);
    }
    *which &= ~(UINT64_C(1) << first);
    if (count > 0)
        conf_run_batch(run, batch, count);
    else
        conf_run_machine_batch(run, &picked->machine_cases[first], 1);
    free(batch);
    if (seeded->applied == 0)
        return OUTCOME_MISPLACED;
    if (row->failures > row->refused)
        return OUTCOME_CAUGHT;
    return row->refused > 0 ? OUTCOME_REFUSED : OUTCOME_MISSED;
}

static const char *case_name(const struct picked *picked, unsigned index, bool is_scalar)
{
    return is_scalar ? picked->cases[index].name : picked->machine_cases[index].name;
}

/* ---- one fault in a row ---- */

struct tally {
    const struct excuses *excuses;
    unsigned pairs;
    unsigned caught;
    unsigned refused;
    unsigned excused;
    unsigned missed;
    unsigned stale; /* excused for nothing */
};

/* The fault as an excuse names it: "ROW fault", or "ROW case fault" of a change in LLVM's code. */
static void name_fault(char key[EXCUSE_KEY_BYTES], const struct conf_seeded *seeded,
                       const char *name)
{
    snprintf(key, EXCUSE_KEY_BYTES, "%s%s%s %s", conf_row_name(seeded->op), name[0] ? " " : "",
             name, seeded->fault->name);
}

/* Whether nothing has shown the fault. where: the case that says most. */
static bool count(struct tally *tally, const struct conf_run *run, enum outcome outcome,
                  const char *key, unsigned site, const char *where)
{
    if (outcome == OUTCOME_MISPLACED)
        return false;
    bool is_missed = outcome == OUTCOME_MISSED;
    bool is_excused = excuses_find(tally->excuses, key, site) != NULL;
    bool is_error = is_missed != is_excused;
    tally->pairs++;
    tally->caught += outcome == OUTCOME_CAUGHT;
    tally->refused += outcome == OUTCOME_REFUSED;
    tally->excused += is_missed && is_excused;
    tally->missed += is_missed && !is_excused;
    tally->stale += !is_missed && is_excused;
    if (run->options->is_verbose || (is_error && !(is_missed && run->options->is_list)))
        printf("%s: %s, place %u, in %s\n",
               is_missed  ? is_excused ? "excused" : "MISSED"
               : is_error ? "EXCUSED FOR NOTHING"
                          : "noticed",
               key, site, where);
    return is_missed;
}

/* Caught when one of the row's cases shows it. */
static void try_rewrite(struct conf_run *run, const struct picked *picked, unsigned number,
                        bool is_scalar, struct tally *tally)
{
    enum outcome best = OUTCOME_MISPLACED;
    const char *where = "";
    uint64_t which = 0;
    for (unsigned i = 0; i < picked->count; i++)
        which |= (picked->fits[i] >> number & 1) << i;
    while (which != 0 && best != OUTCOME_CAUGHT) {
        unsigned first = (unsigned)__builtin_ctzll(which);
        enum outcome outcome = try_cases(run, picked, &which, is_scalar);
        if (outcome > best) {
            best = outcome;
            where = case_name(picked, first, is_scalar);
        }
    }
    char key[EXCUSE_KEY_BYTES];
    const uint32_t only = 0;
    name_fault(key, run->seeded, "");
    if (count(tally, run, best, key, only, where) && run->options->is_list)
        excuses_print(tally->excuses, key, &only, 1);
}

/* Cases without constants have all of an instruction's code; the first has most modifiers, the last
 * the fewest. */
static unsigned plain_case(const struct picked *picked, bool is_last)
{
    unsigned best = 0;
    for (unsigned i = 1; i < picked->count; i++) {
        const struct conf_case *made = &picked->cases[i];
        const struct conf_case *than = &picked->cases[best];
        bool is_fuller = made->in_count > than->in_count ||
                         (made->in_count == than->in_count && than->is_variant);
        bool is_later = is_last && made->in_count == than->in_count && !made->is_variant;
        if (is_fuller || is_later)
            best = i;
    }
    return best;
}

/* Every place of a case, up to MAX_SITES, is a fault of its own. */
static void try_mutation(struct conf_run *run, const struct picked *picked, unsigned index,
                         struct tally *tally)
{
    char key[EXCUSE_KEY_BYTES];
    const char *name = case_name(picked, index, true);
    uint32_t unnoticed[MAX_SITES];
    size_t unnoticed_count = 0;
    enum outcome outcome = OUTCOME_CAUGHT;
    name_fault(key, run->seeded, name);
    for (unsigned site = 0; site < MAX_SITES && outcome != OUTCOME_MISPLACED; site++) {
        uint64_t which = UINT64_C(1) << index;
        run->seeded->site = site;
        outcome = try_cases(run, picked, &which, true);
        if (count(tally, run, outcome, key, site, name))
            unnoticed[unnoticed_count++] = site;
    }
    if (run->options->is_list)
        excuses_print(tally->excuses, key, unnoticed, unnoticed_count);
}

/* Rows whose code has clamps, tests for NaN and signs of its own. The code of most others is that
 * of a conversion to and from a wider format, in which much can be changed without any effect; that
 * of approximate rows may change within their bounds. */
static bool has_mutations(enum ptx_op op)
{
    static const char *const rows[] = {"CVT_INT",     "CVT_SAT",      "CVT_F32_INT", "CVT_F64_INT",
                                       "FMA_F64",     "FMA",          "SELP",        "SLCT",
                                       "SETP_SIGNED", "SETP_UNSIGNED"};
    enum ptx_family family = ptx_op_table[op].family;
    if (family == PTX_FAMILY_INTEGER || family == PTX_FAMILY_LOGIC)
        return true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i], conf_row_name(op)) == 0)
            return true;
    return false;
}

static bool is_of_row(const struct excuse *excuse, enum ptx_op op)
{
    const char *name = conf_row_name(op);
    size_t len = strlen(name);
    return strncmp(excuse->key, name, len) == 0 && excuse->key[len] == ' ';
}

/* Of a row all of whose faults have been tried: each excuse was for one of them. */
static void check_excuses(enum ptx_op op, unsigned excused, struct tally *tally)
{
    unsigned listed = 0;
    for (size_t i = 0; i < tally->excuses->count; i++) {
        const struct excuse *excuse = &tally->excuses->list[i];
        if (is_of_row(excuse, op))
            listed += excuse->last - excuse->first + 1;
    }
    if (listed == excused)
        return;
    printf("EXCUSED FOR NOTHING: %u places of %s\n", listed - excused, conf_row_name(op));
    tally->stale += listed - excused;
}

static bool check_rows(const struct excuses *excuses)
{
    bool are_good = true;
    for (size_t i = 0; i < excuses->count; i++) {
        unsigned op = 0;
        while (op < PTX_OP_COUNT && !is_of_row(&excuses->list[i], (enum ptx_op)op))
            op++;
        if (op == PTX_OP_COUNT)
            printf("EXCUSED FOR NOTHING: there is no row of '%s'\n", excuses->list[i].key);
        are_good &= op < PTX_OP_COUNT;
    }
    return are_good;
}

static void try_row(struct conf_run *run, enum ptx_op op, unsigned share, unsigned *pair,
                    struct tally *tally)
{
    unsigned excused = tally->excused;
    bool is_scalar = conf_is_scalar(op);
    struct picked *picked = calloc(1, sizeof *picked);
    if (picked == NULL)
        return;
    pick(picked, op, is_scalar);
    run->seeded->op = op;
    if (is_scalar)
        fit_scalar(picked);
    else
        fit_machine(picked, run->seeded);
    for (unsigned i = 0; conf_rewrites[i].name != NULL && i < MAX_REWRITES; i++) {
        run->seeded->fault = &conf_rewrites[i];
        if ((*pair)++ % share == 0)
            try_rewrite(run, picked, i, is_scalar, tally);
    }
    bool is_mutable = is_scalar && has_mutations(op);
    for (const struct conf_fault *fault = conf_mutations; is_mutable && fault->name != NULL;
         fault++) {
        run->seeded->fault = fault;
        if ((*pair)++ % share != 0 || picked->count == 0)
            continue;
        unsigned first = plain_case(picked, false);
        unsigned last = plain_case(picked, true);
        try_mutation(run, picked, first, tally);
        if (last != first)
            try_mutation(run, picked, last, tally);
    }
    for (unsigned i = 0; !is_scalar && i < picked->count; i++)
        machine_case_free(&picked->machine_cases[i]);
    free(picked);
    if (share == 1)
        check_excuses(op, tally->excused - excused, tally);
}

unsigned conf_run_faults(struct conf_run *run, unsigned share)
{
    struct conf_options options = *run->options;
    options.cases = FAULT_SAMPLES;
    struct conf_seeded seeded = {.serial = 1};
    struct conf_run faulty = *run;
    faulty.options = &options;
    faulty.seeded = &seeded;
    struct runner_build build = {.collapse = options.collapse,
                                 .workers = 1,
                                 .hooks = {.data = &seeded, .rewrite = rewrite, .mutate = mutate}};
    struct pxr_error err = {0};
    struct excuses excuses = {0};
    enum pxr_status status = PXR_OK;
    if (options.excuses_path != NULL)
        status = excuses_load(&excuses, options.excuses_path, &err);
    if (status == PXR_OK)
        status = runner_open_inprocess(&build, &faulty.runner, &err);
    if (status != PXR_OK) {
        fprintf(stderr, "conformance: %s\n", err.message);
        return 1;
    }
    struct tally tally = {.excuses = &excuses};
    tally.stale += run->is_first && !check_rows(&excuses);
    unsigned pair = 0;
    unsigned number = 0;
    for (unsigned op = 0; op < PTX_OP_COUNT; op++)
        if (conf_wants(&options, (enum ptx_op)op) && turn_has(number++, options.turns) &&
            conf_claim(run))
            try_row(&faulty, (enum ptx_op)op, share, &pair, &tally);
    runner_close(faulty.runner);
    turn_print(options.turns);
    printf("%u faults in rows: %u caught, %u refused by the translator, %u excused, %u missed, %u "
           "excused for nothing\n",
           tally.pairs, tally.caught, tally.refused, tally.excused, tally.missed, tally.stale);
    excuses_fini(&excuses);
    return tally.missed + tally.stale;
}
