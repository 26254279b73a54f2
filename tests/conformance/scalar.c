/* SPDX-License-Identifier: Apache-2.0
 *
 * The scalar families: cases that read the same kinds of inputs go into one kernel, the kernel runs
 * over all samples, and every result is compared with the oracle's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/conformance.h"
#include "tests/conformance/direct.h"
#include "tests/conformance/golden.h"
#include "tests/conformance/judge.h"
#include "tests/conformance/kernel_text.h"

#define OPEN_BATCHES    48
#define VARIANT_SHARE   16 /* a variant gets this part of the random samples */
#define GRID_BLOCKS     2
#define BLOCK_THREADS   32
#define MAX_SEEN_SHAPES 512

/* ---- one batch ---- */

/* Everything around one kernel. */
struct work {
    struct conf_run *run;
    const struct conf_case *cases;
    unsigned count;
    struct conf_inputs inputs;
    struct conf_layout layout;
    char *text;
    uint8_t *in;
    uint8_t *out;
};

static bool prepare(struct work *work)
{
    const struct conf_case *first = &work->cases[0];
    size_t random = work->run->options->cases;
    if (first->is_variant)
        random /= VARIANT_SHARE;
    bool has_inputs = conf_inputs_make(&work->inputs, first->in_types, first->in_count, random) &&
                      conf_inputs_add_near_ties(&work->inputs);
    if (!has_inputs)
        return false;
    size_t known = work->run->options->known;
    if (known > 0)
        conf_inputs_choose(&work->inputs, known);
    size_t samples = work->inputs.count;
    conf_layout_make(&work->layout, work->cases, work->count, samples);
    struct conf_seeded *seeded = work->run->seeded;
    work->text = known > 0 ? conf_known_text(work->cases, work->count, &work->layout, &work->inputs)
                           : conf_kernel_text(work->cases, work->count, &work->layout,
                                              seeded != NULL ? seeded->lines : NULL,
                                              seeded != NULL ? seeded->serial : 0);
    if (seeded != NULL)
        seeded->line_count = work->count;
    work->in = runner_alloc(work->layout.in_bytes);
    work->out = runner_alloc(work->layout.out_bytes);
    if (work->text == NULL || work->in == NULL || work->out == NULL)
        return false;
    uint32_t header = (uint32_t)samples;
    memcpy(work->in, &header, sizeof header);
    for (unsigned i = 0; i < first->in_count; i++)
        memcpy(work->in + work->layout.in_offsets[i], work->inputs.columns[i],
               samples * conf_type_bytes(first->in_types[i]));
    memset(work->out, 0xcd, work->layout.out_bytes);
    return true;
}

static void finish(struct work *work)
{
    conf_inputs_free(&work->inputs);
    free(work->text);
    free(work->in);
    free(work->out);
}

static enum pxr_status run_kernel(struct work *work, struct pxr_error *err)
{
    struct runner_buffer buffers[] = {{work->in, work->layout.in_bytes},
                                      {work->out, work->layout.out_bytes}};
    struct runner_launch launch = {.kernel = CONF_KERNEL,
                                   .grid = {GRID_BLOCKS, 1, 1},
                                   .block = {BLOCK_THREADS, 1, 1},
                                   .buffers = buffers,
                                   .buffer_count = 2};
    return runner_run(conf_runner(work->run), work->text, &launch, err);
}

static void sample(const struct work *work, size_t n, union oracle_value *in)
{
    for (unsigned i = 0; i < work->inputs.in_count; i++) {
        unsigned bytes = conf_type_bytes(work->inputs.types[i]);
        in[i].u128 = conf_load(work->inputs.columns[i] + n * bytes, bytes);
    }
}

static int print_value(char *text, size_t size, unsigned __int128 value, unsigned bytes)
{
    if (bytes == 16)
        return snprintf(text, size, " %016llx%016llx", (unsigned long long)(value >> 64),
                        (unsigned long long)value);
    return snprintf(text, size, " %0*llx", (int)(2 * bytes), (unsigned long long)value);
}

static void print_inputs(char *text, size_t size, const struct work *work,
                         const union oracle_value *in)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < work->inputs.in_count && used < size; i++)
        used += (size_t)print_value(text + used, size - used, in[i].u128,
                                    conf_type_bytes(work->inputs.types[i]));
}

static void note_difference(struct work *work, const struct conf_case *made, unsigned output,
                            const union oracle_value *in, union oracle_value got,
                            union oracle_value want)
{
    char inputs[160], got_text[48], want_text[48];
    print_inputs(inputs, sizeof inputs, work, in);
    unsigned bytes = conf_out_bytes(made, output);
    print_value(got_text, sizeof got_text, got.u128, bytes);
    print_value(want_text, sizeof want_text, want.u128, bytes);
    conf_note(&work->run->rows[made->op], "%s: inputs%s: result %u is%s, should be%s", made->name,
              inputs, output, got_text, want_text);
}

static void note_error(struct work *work, const struct conf_case *made,
                       const struct conf_verdict *verdict, const union oracle_value *in)
{
    struct conf_row *row = &work->run->rows[made->op];
    if (verdict->allowed <= 0 || verdict->error / verdict->allowed <= row->max_error)
        return;
    char inputs[160];
    print_inputs(inputs, sizeof inputs, work, in);
    row->max_error = verdict->error / verdict->allowed;
    row->max_allowed = verdict->allowed;
    snprintf(row->max_inputs, sizeof row->max_inputs, "%s:%s", made->name, inputs);
}

static void judge_sample(struct work *work, unsigned index, struct conf_result *result, size_t n,
                         const union oracle_value *in, const union oracle_value *want)
{
    const struct conf_case *made = &work->cases[index];
    for (unsigned i = 0; i < made->out_count; i++) {
        unsigned bytes = conf_out_bytes(made, i);
        result->got.u128 =
            conf_load(work->out + work->layout.out_offsets[index][i] + n * bytes, bytes);
        result->want = want[i];
        result->is_main = i == 0;
        result->type = made->out_types[i];
        result->bits = made->out_bits[i];
        struct conf_verdict verdict = conf_judge(result);
        if (verdict.allowed > 0)
            note_error(work, made, &verdict, in);
        if (!verdict.is_right)
            note_difference(work, made, i, in, result->got, want[i]);
    }
}

/* Prepares the oracle for a case; false when it cannot judge it. */
static bool select_case(struct work *work, struct conf_direct *direct, unsigned index,
                        struct conf_result *result)
{
    const struct conf_case *made = &work->cases[index];
    struct conf_row *row = &work->run->rows[made->op];
    *result = (struct conf_result){.inst = conf_direct_select(direct, index)};
    if (result->inst == NULL) {
        row->refused++;
        conf_note(row, "%s: the parser chose another row", made->name);
        return false;
    }
    result->sources = conf_direct_sources(direct, &result->source_count);
    return true;
}

static bool evaluate(struct work *work, struct conf_direct *direct, unsigned index, size_t n,
                     union oracle_value *in, union oracle_value *want)
{
    struct conf_row *row = &work->run->rows[work->cases[index].op];
    sample(work, n, in);
    row->samples++;
    if (conf_direct_eval(direct, in, want) == PXR_OK)
        return true;
    row->refused++;
    conf_note(row, "%s: the oracle refuses: %s", work->cases[index].name,
              conf_direct_message(direct));
    return false;
}

/* Of a seeded fault nothing is asked but whether it shows. */
static bool is_settled(const struct work *work)
{
    const struct conf_row *row = &work->run->rows[work->cases[0].op];
    return work->run->seeded != NULL && row->failures > row->refused;
}

static void judge_case(struct work *work, struct conf_direct *direct, unsigned index)
{
    struct conf_result result;
    union oracle_value in[CONF_MAX_INPUTS] = {0}, want[CONF_MAX_OUTPUTS];
    if (!select_case(work, direct, index, &result))
        return;
    for (size_t n = 0; n < work->inputs.count && !is_settled(work); n++) {
        if (!evaluate(work, direct, index, n, in, want))
            return;
        judge_sample(work, index, &result, n, in, want);
    }
}

/* ---- golden results ---- */

/* Of how many samples some are in the file. */
static size_t golden_inputs(const struct work *work)
{
    const struct conf_inputs *inputs = &work->inputs;
    size_t random = work->run->options->golden_cases;
    if (random == 0 || inputs->random_count == 0)
        return inputs->count;
    if (work->cases[0].is_variant)
        random /= VARIANT_SHARE;
    return inputs->count - inputs->random_count + random;
}

static void golden_name(char name[GOLDEN_NAME_BYTES], const struct conf_case *made, unsigned output)
{
    /* rows of one spelling differ in how many operands they have */
    snprintf(name, GOLDEN_NAME_BYTES, "%s, %u inputs: result %u", made->name, made->in_count,
             output);
}

static void keep_case(struct work *work, unsigned index)
{
    const struct conf_case *made = &work->cases[index];
    const struct conf_options *options = work->run->options;
    size_t count = conf_golden_count(options, work->inputs.count);
    uint8_t *kept = malloc(count * 16);
    for (unsigned i = 0; kept != NULL && i < made->out_count; i++) {
        char name[GOLDEN_NAME_BYTES];
        unsigned bytes = conf_out_bytes(made, i);
        const uint8_t *values = work->out + work->layout.out_offsets[index][i];
        for (size_t n = 0; n < count; n++)
            memcpy(kept + n * bytes,
                   values + conf_golden_sample(options, work->inputs.count, n) * bytes, bytes);
        golden_name(name, made, i);
        conf_golden_put(work->run->golden, name, kept, count, bytes);
    }
    free(kept);
}

/* An exact result must be the golden one, as far as the manual defines it. Of an approximate one,
 * the golden result must be within the same bound as ours. */
static void compare_value(struct work *work, unsigned index, struct conf_result *result,
                          const union oracle_value *in, union oracle_value got,
                          union oracle_value golden, union oracle_value want)
{
    const struct conf_case *made = &work->cases[index];
    bool is_exact = ptx_op_table[made->op].fidelity == PTX_FIDELITY_EXACT;
    result->got = is_exact ? got : golden;
    result->want = is_exact ? golden : want;
    if (!conf_judge(result).is_right)
        note_difference(work, made, result->is_main ? 0 : 1, in, result->got, result->want);
}

static void compare_output(struct work *work, struct conf_direct *direct, unsigned index,
                           unsigned output)
{
    const struct conf_case *made = &work->cases[index];
    const struct conf_options *options = work->run->options;
    char name[GOLDEN_NAME_BYTES];
    golden_name(name, made, output);
    const struct conf_golden_record *record = conf_golden_find(work->run->golden, name);
    size_t samples = golden_inputs(work);
    unsigned bytes = conf_out_bytes(made, output);
    struct conf_result result;
    if (record == NULL) {
        conf_golden_note_absent(work->run->golden, &work->run->rows[made->op], made->op, name);
        return;
    }
    conf_golden_note_present(work->run->golden, &work->run->rows[made->op], made->op, name);
    if (record->value_bytes != bytes || record->count != conf_golden_count(options, samples)) {
        conf_note(&work->run->rows[made->op], "%s: other samples than in the golden file", name);
        return;
    }
    if (!select_case(work, direct, index, &result))
        return;
    result.is_main = output == 0;
    result.type = made->out_types[output];
    result.bits = made->out_bits[output];
    for (size_t n = 0; n < record->count; n++) {
        size_t at = conf_golden_sample(options, samples, n);
        union oracle_value in[CONF_MAX_INPUTS] = {0}, want[CONF_MAX_OUTPUTS], got, golden;
        if (!evaluate(work, direct, index, at, in, want))
            return;
        got.u128 =
            conf_load(work->out + work->layout.out_offsets[index][output] + at * bytes, bytes);
        golden.u128 = conf_load(record->values + n * bytes, bytes);
        compare_value(work, index, &result, in, got, golden, want[output]);
    }
}

static void judge(struct work *work)
{
    struct conf_direct *direct = NULL;
    struct pxr_error err = {0};
    if (conf_direct_open(work->cases, work->count, &direct, &err) != PXR_OK) {
        conf_note(&work->run->rows[work->cases[0].op], "%s: %s", work->cases[0].name, err.message);
        return;
    }
    bool is_golden = work->run->options->golden == CONF_GOLDEN_COMPARE;
    for (unsigned i = 0; i < work->count; i++) {
        if (!is_golden || work->run->options->golden_cases > 0)
            judge_case(work, direct, i);
        for (unsigned k = 0; is_golden && k < work->cases[i].out_count; k++)
            compare_output(work, direct, i, k);
    }
    conf_direct_close(direct);
}

static void take_results(struct work *work)
{
    if (work->run->options->golden != CONF_GOLDEN_WRITE) {
        judge(work);
        return;
    }
    for (unsigned i = 0; i < work->count; i++)
        keep_case(work, i);
}

void conf_run_batch(struct conf_run *run, const struct conf_case *cases, unsigned count)
{
    struct work work = {.run = run, .cases = cases, .count = count};
    struct conf_row *row = &run->rows[cases[0].op];
    struct pxr_error err = {0};
    if (!prepare(&work)) {
        row->refused++;
        conf_note(row, "%s: out of memory", cases[0].name);
    } else if (run_kernel(&work, &err) == PXR_OK) {
        take_results(&work);
    } else if (count > 1) {
        /* One that is refused must not hide the others. */
        for (unsigned i = 0; i < count; i++)
            conf_run_batch(run, &cases[i], 1);
    } else {
        row->refused++;
        conf_note(row, "%s: %s: %s", cases[0].name, pxr_status_name(err.status), err.message);
    }
    finish(&work);
}

/* ---- all cases of a row ---- */

struct batch {
    unsigned count;
    struct conf_case cases[CONF_BATCH];
};

struct collector {
    struct conf_run *run;
    struct batch *batches;            /* OPEN_BATCHES */
    uint64_t shapes[MAX_SEEN_SHAPES]; /* types of forms that have had their variants */
    unsigned shape_count;
};

bool conf_same_inputs(const struct conf_case *a, const struct conf_case *b)
{
    return a->op == b->op && a->in_count == b->in_count && a->is_variant == b->is_variant &&
           memcmp(a->in_types, b->in_types, a->in_count * sizeof a->in_types[0]) == 0;
}

static void flush(struct collector *collector, struct batch *batch)
{
    if (batch->count > 0 && conf_claim(collector->run))
        conf_run_batch(collector->run, batch->cases, batch->count);
    batch->count = 0;
}

static bool collect(const struct conf_case *made, void *data)
{
    struct collector *collector = data;
    struct batch *free_batch = NULL;
    for (unsigned i = 0; i < OPEN_BATCHES; i++) {
        struct batch *batch = &collector->batches[i];
        if (batch->count == 0) {
            free_batch = free_batch == NULL ? batch : free_batch;
        } else if (conf_same_inputs(&batch->cases[0], made)) {
            free_batch = batch;
            break;
        }
    }
    if (free_batch == NULL) {
        free_batch = &collector->batches[0];
        flush(collector, free_batch);
    }
    struct conf_case *added = &free_batch->cases[free_batch->count++];
    const struct conf_options *options = collector->run->options;
    *added = *made;
    added->ptx = added->ptx > options->base_ptx ? added->ptx : options->base_ptx;
    added->sm = added->sm > options->base_sm ? added->sm : options->base_sm;
    if (free_batch->count == CONF_BATCH)
        flush(collector, free_batch);
    return true;
}

/* The first form of every combination of types gets the variants. */
static bool is_first_of_types(struct collector *collector, const struct ptx_form *form)
{
    uint64_t shape = 1;
    for (unsigned i = 0; i < form->type_count; i++)
        shape = shape * PTX_TYPE_COUNT + form->types[i];
    for (unsigned i = 0; i < collector->shape_count; i++)
        if (collector->shapes[i] == shape)
            return false;
    if (collector->shape_count < MAX_SEEN_SHAPES)
        collector->shapes[collector->shape_count++] = shape;
    return true;
}

static bool collect_form(const struct ptx_form *form, void *data)
{
    struct collector *collector = data;
    struct conf_row *row = &collector->run->rows[form->op];
    if (!conf_has_target(collector->run->options, form->min_sm))
        return true;
    row->forms += collector->run->is_first;
    if (!conf_scalar_cases(form, is_first_of_types(collector, form), collect, collector) &&
        collector->run->is_first) {
        row->refused++;
        conf_note(row, "%s: no case is known for its operands", form->text);
    }
    return true;
}

struct each {
    conf_case_fn fn;
    void *data;
};

static bool each_case(const struct ptx_form *form, void *data)
{
    struct each *each = data;
    conf_scalar_cases(form, true, each->fn, each->data);
    return true;
}

void conf_each_scalar_case(enum ptx_op op, conf_case_fn fn, void *data)
{
    struct each each = {fn, data};
    ptx_op_each_form(op, each_case, &each);
}

void conf_run_scalar_row(struct conf_run *run, enum ptx_op op)
{
    struct collector collector = {.run = run};
    collector.batches = calloc(OPEN_BATCHES, sizeof *collector.batches);
    if (collector.batches == NULL) {
        conf_note(&run->rows[op], "out of memory");
        return;
    }
    ptx_op_each_form(op, collect_form, &collector);
    for (unsigned i = 0; i < OPEN_BATCHES; i++)
        flush(&collector, &collector.batches[i]);
    free(collector.batches);
}
