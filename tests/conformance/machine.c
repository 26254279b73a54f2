/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows that need memory or other threads: kernels of several cases, run by the backend and by the
 * oracle's machine on the same records, which must be the same afterwards.
 *
 * Such a row has up to a hundred thousand spellings, the product of what is independent of each
 * other (types and vectors; caches and eviction; order and scope). All pairs of words that can
 * stand in one spelling are run, and a fixed part of the product.
 */
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "tests/conformance/conformance.h"
#include "tests/conformance/golden.h"
#include "tests/conformance/inputs.h"
#include "tests/conformance/machine_case.h"

#define BATCH         CONF_BATCH
#define PRODUCT_SHARE 199 /* of the spellings without such a pair, one in so many is run */
#define LOWEST_PTX    78
#define LOWEST_SM     75
#define LEGACY_PTX    60
#define LEGACY_SM     60
#define PARAM_BYTES   32

bool conf_is_scalar(enum ptx_op op)
{
    static const uint64_t scalar =
        UINT64_C(1) << PTX_FAMILY_INTEGER | UINT64_C(1) << PTX_FAMILY_FLOAT |
        UINT64_C(1) << PTX_FAMILY_COMPARE | UINT64_C(1) << PTX_FAMILY_LOGIC |
        UINT64_C(1) << PTX_FAMILY_MOVE | UINT64_C(1) << PTX_FAMILY_CONVERT |
        UINT64_C(1) << PTX_FAMILY_VIDEO;
    return (scalar >> ptx_op_table[op].family & 1) != 0;
}

/* ---- which forms ---- */

/* A part of a spelling that has been run. */
struct seen {
    char text[PTX_FORM_BYTES];
    UT_hash_handle hh;
};

struct collector {
    struct conf_run *run;
    struct seen *seen;
    uint64_t form_number;
    unsigned case_number;
    unsigned count;
    struct machine_case cases[BATCH];
};

static bool is_new(struct collector *collector, const char *text)
{
    struct seen *seen = NULL;
    HASH_FIND_STR(collector->seen, text, seen);
    if (seen != NULL)
        return false;
    seen = calloc(1, sizeof *seen);
    if (seen == NULL)
        return true;
    snprintf(seen->text, sizeof seen->text, "%s", text);
    HASH_ADD_STR(collector->seen, text, seen);
    return true;
}

static void forget(struct collector *collector)
{
    struct seen *seen;
    struct seen *next;
    HASH_ITER(hh, collector->seen, seen, next)
    {
        HASH_DEL(collector->seen, seen);
        free(seen);
    }
}

/* Whether the spelling has two words that no spelling before it had together. */
static bool has_new_pair(struct collector *collector, const struct ptx_form *form)
{
    bool is_found = false;
    for (const char *a = strchr(form->text, '.'); a != NULL; a = strchr(a + 1, '.')) {
        for (const char *b = a; b != NULL; b = strchr(b + 1, '.')) {
            char pair[PTX_FORM_BYTES];
            snprintf(pair, sizeof pair, "%.*s %.*s", (int)strcspn(a + 1, "."), a + 1,
                     (int)strcspn(b + 1, "."), b + 1);
            is_found = is_new(collector, pair) || is_found;
        }
    }
    return is_found;
}

static bool is_wanted(struct collector *collector, const struct ptx_form *form)
{
    return has_new_pair(collector, form) || collector->run->options->all_forms ||
           collector->form_number % PRODUCT_SHARE == 0;
}

/* ---- text ---- */

static const char prologue[] = ".reg .b64 %in, %base, %out, %shared, %local, %const, %offset;\n"
                               ".reg .b64 %d<4>;\n"
                               ".reg .b32 %lane, %sample, %block, %thread;\n"
                               ".reg .pred %is_even;\n"
                               ".shared .align 32 .b8 s_data[2048];\n"
                               ".local .align 32 .b8 l_data[32];\n"
                               "mov.u32 %thread, %tid.x;\n"
                               "and.b32 %lane, %thread, 1;\n"
                               "setp.eq.u32 %is_even, %lane, 0;\n"
                               "and.b32 %lane, %thread, 31;\n"
                               "mov.u32 %block, %ctaid.x;\n"
                               "mad.lo.u32 %sample, %block, 64, %thread;\n"
                               "ld.param.u64 %in, [p_in];\n"
                               "mad.wide.u32 %in, %sample, 64, %in;\n"
                               "ld.param.u64 %base, [p_out];\n"
                               "mad.wide.u32 %base, %sample, 96, %base;\n"
                               "mul.wide.u32 %offset, %thread, 32;\n"
                               "mov.u64 %shared, s_data;\n"
                               "add.s64 %shared, %shared, %offset;\n"
                               "mov.u64 %const, c_data;\n"
                               "add.s64 %const, %const, %offset;\n"
                               "mov.u64 %local, l_data;\n"
                               "ld.global.b64 %d0, [%in];\n"
                               "ld.global.b64 %d1, [%in+8];\n"
                               "ld.global.b64 %d2, [%in+16];\n"
                               "ld.global.b64 %d3, [%in+24];\n";

/* "The non-sync forms are not supported on sm_70 or higher from PTX 6.4 on." */
static bool is_legacy(const struct machine_case *made)
{
    return (strncmp(made->name, "shfl", 4) == 0 || strncmp(made->name, "vote", 4) == 0) &&
           strstr(made->name, ".sync") == NULL;
}

static void put_header(FILE *file, const struct machine_case *cases, unsigned count)
{
    unsigned ptx = is_legacy(&cases[0]) ? LEGACY_PTX : LOWEST_PTX;
    unsigned sm = is_legacy(&cases[0]) ? LEGACY_SM : LOWEST_SM;
    bool needs_arch = false;
    for (unsigned i = 0; i < count; i++) {
        ptx = cases[i].ptx > ptx ? cases[i].ptx : ptx;
        sm = cases[i].sm > sm ? cases[i].sm : sm;
        needs_arch = needs_arch || cases[i].needs_arch;
    }
    fprintf(file, ".version %u.%u\n.target sm_%u%s\n.address_size 64\n", ptx / 10, ptx % 10, sm,
            needs_arch ? "a" : "");
    fputs(".const .align 32 .b8 c_data[2048] = {", file);
    for (unsigned i = 0; i < 2048; i++)
        fprintf(file, "%s%u", i == 0 ? "" : ",", (i * 167 + 13) & 255);
    fputs("};\n", file);
}

static int count_lines(const char *text)
{
    int count = 0;
    for (; *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

/* The lines from the current end of the file on, as many as text has. */
static void note_lines(FILE *file, char *const *written, const char *text, int lines[2])
{
    fflush(file);
    lines[0] = count_lines(*written) + 1;
    lines[1] = lines[0] + count_lines(text) - 1;
}

/* All of MACHINE_BLOCKS. */
static const char cluster_directive[] = " .reqnctapercluster 4, 1, 1";

char *conf_machine_text(const struct machine_case *cases, unsigned count,
                        struct conf_seeded *seeded)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL)
        return NULL;
    put_header(file, cases, count);
    int none[2];
    for (unsigned i = 0; i < count; i++) {
        /* of a case with a function, that is where the instruction is */
        note_lines(file, &text, cases[i].decls, seeded != NULL ? seeded->lines[i] : none);
        fputs(cases[i].decls, file);
    }
    fprintf(file,
            ".visible .entry conformance(.param .u64 p_in, .param .u64 p_out,\n"
            ".param .align 32 .b8 p_data[32])%s\n{\n%s",
            cases[0].is_in_cluster ? cluster_directive : "", prologue);
    for (unsigned i = 0; i < count; i++) {
        fprintf(file, "add.s64 %%out, %%base, %u;\n{\n", i * MACHINE_SAMPLES * MACHINE_OUT_BYTES);
        if (strstr(cases[i].decls, ".func") == NULL)
            note_lines(file, &text, cases[i].body, seeded != NULL ? seeded->lines[i] : none);
        fprintf(file, "%s}\n", cases[i].body);
    }
    fputs("ret;\n}\n", file);
    if (seeded != NULL) {
        seeded->line_count = count;
        fprintf(file, "// %llu\n", (unsigned long long)seeded->serial);
    }
    fclose(file);
    return text;
}

/* ---- running ---- */

struct work {
    struct conf_run *run;
    const struct machine_case *cases;
    unsigned count;
    char *text;
    uint8_t *in;
    size_t out_bytes;
    uint8_t *out;
    uint8_t *want;
    uint8_t param[PARAM_BYTES];
};

/* Operands a, b and c of the type at 0, 32 and 48 of a record; any bytes elsewhere. */
static bool fill_records(struct work *work)
{
    enum ptx_type type = work->cases[0].value_type;
    struct conf_random random = {UINT64_C(0xc0ffee)};
    for (size_t i = 0; i < MACHINE_SAMPLES * MACHINE_IN_BYTES; i++)
        work->in[i] = (uint8_t)conf_next(&random);
    for (unsigned i = 0; i < PARAM_BYTES; i++)
        work->param[i] = (uint8_t)conf_next(&random);
    if (type == PTX_TYPE_NONE)
        return true;
    struct conf_inputs inputs;
    enum ptx_type types[] = {type, type, type};
    if (!conf_inputs_make(&inputs, types, 3, 2 * MACHINE_SAMPLES))
        return false;
    unsigned bytes = conf_type_bytes(type);
    static const size_t places[] = {0, 32, 48, MACHINE_IN_BYTES};
    for (size_t i = 0; i < MACHINE_SAMPLES; i++) {
        /* one half random, one half spread over the edges; vectors have others behind the first */
        size_t edges = inputs.count - 2 * MACHINE_SAMPLES;
        size_t n = i % 2 == 0 || edges == 0 ? inputs.count - 1 - i : i * 977 % edges;
        for (unsigned k = 0; k < 3; k++)
            for (size_t at = places[k]; at + bytes <= places[k + 1]; at += bytes) {
                size_t m = (n + (at - places[k]) / bytes * 31) % inputs.count;
                memcpy(work->in + i * MACHINE_IN_BYTES + at, inputs.columns[k] + m * bytes, bytes);
            }
    }
    conf_inputs_free(&inputs);
    return true;
}

static bool prepare(struct work *work)
{
    work->out_bytes = (size_t)work->count * MACHINE_SAMPLES * MACHINE_OUT_BYTES;
    work->text = conf_machine_text(work->cases, work->count, work->run->seeded);
    work->in = runner_alloc(MACHINE_SAMPLES * MACHINE_IN_BYTES);
    work->out = runner_alloc(work->out_bytes);
    work->want = runner_alloc(work->out_bytes);
    return work->text != NULL && work->in != NULL && work->out != NULL && work->want != NULL &&
           fill_records(work);
}

static void finish(struct work *work)
{
    free(work->text);
    free(work->in);
    free(work->out);
    free(work->want);
}

static enum pxr_status run_on(struct work *work, struct runner *runner, uint8_t *out,
                              struct pxr_error *err)
{
    memset(out, 0xcd, work->out_bytes);
    struct runner_buffer buffers[] = {
        {.bytes = work->in, .size_bytes = MACHINE_SAMPLES * MACHINE_IN_BYTES},
        {.bytes = out, .size_bytes = work->out_bytes},
        {.bytes = work->param, .size_bytes = PARAM_BYTES}};
    struct runner_launch launch = {.kernel = "conformance",
                                   .grid = {MACHINE_BLOCKS, 1, 1},
                                   .block = {MACHINE_THREADS, 1, 1},
                                   .buffers = buffers,
                                   .buffer_count = 3,
                                   .values = 1u << 2};
    return runner_run(runner, work->text, &launch, err);
}

/* Bits above the exponent of a NaN are free: one engine's are copied to the other's. */
static void take_any_nan(enum ptx_type type, const uint8_t *out, uint8_t *want)
{
    if (type == PTX_TYPE_NONE || !ptx_type_is_float(type))
        return;
    struct conf_float lane = conf_float_of(type);
    for (size_t at = 0; at < MACHINE_OUT_BYTES; at += lane.bytes) {
        uint64_t a = 0, b = 0;
        memcpy(&a, out + at, lane.bytes);
        memcpy(&b, want + at, lane.bytes);
        if ((a & lane.magnitude) > lane.infinity && (b & lane.magnitude) > lane.infinity)
            memcpy(want + at, out + at, lane.bytes);
    }
}

static void compare_case(struct work *work, unsigned index)
{
    const struct machine_case *made = &work->cases[index];
    struct conf_row *row = &work->run->rows[made->op];
    row->samples += MACHINE_SAMPLES;
    for (size_t i = 0; i < MACHINE_SAMPLES; i++) {
        size_t at = (index * MACHINE_SAMPLES + i) * MACHINE_OUT_BYTES;
        take_any_nan(made->value_type, work->out + at, work->want + at);
        if (memcmp(work->out + at, work->want + at, MACHINE_OUT_BYTES) == 0)
            continue;
        unsigned byte = 0;
        while (work->out[at + byte] == work->want[at + byte])
            byte++;
        uint64_t got, want, a, b, c;
        const uint8_t *record = work->in + i * MACHINE_IN_BYTES;
        memcpy(&got, work->out + at + (byte & ~7U), sizeof got);
        memcpy(&want, work->want + at + (byte & ~7U), sizeof want);
        memcpy(&a, record, sizeof a);
        memcpy(&b, record + 32, sizeof b);
        memcpy(&c, record + 48, sizeof c);
        conf_note(row,
                  "%s: sample %zu (a %016llx b %016llx c %016llx): bytes from %u are %016llx, "
                  "should be %016llx",
                  made->name, i, (unsigned long long)a, (unsigned long long)b,
                  (unsigned long long)c, byte & ~7U, (unsigned long long)got,
                  (unsigned long long)want);
    }
}

/* ---- golden results ---- */

static void keep_case(struct work *work, unsigned index)
{
    const struct conf_options *options = work->run->options;
    size_t count = conf_golden_count(options, MACHINE_SAMPLES);
    uint8_t *kept = malloc(count * MACHINE_OUT_BYTES);
    const uint8_t *values = work->out + index * MACHINE_SAMPLES * MACHINE_OUT_BYTES;
    for (size_t n = 0; kept != NULL && n < count; n++)
        memcpy(kept + n * MACHINE_OUT_BYTES,
               values + conf_golden_sample(options, MACHINE_SAMPLES, n) * MACHINE_OUT_BYTES,
               MACHINE_OUT_BYTES);
    if (kept != NULL)
        conf_golden_put(work->run->golden, work->cases[index].name, kept, count, MACHINE_OUT_BYTES);
    free(kept);
}

/* Puts the golden file's results in the place of the oracle's; other samples count as right. */
static bool take_golden(struct work *work, unsigned index)
{
    const struct conf_options *options = work->run->options;
    const struct machine_case *made = &work->cases[index];
    const struct conf_golden_record *record = conf_golden_find(work->run->golden, made->name);
    size_t base = (size_t)index * MACHINE_SAMPLES * MACHINE_OUT_BYTES;
    memcpy(work->want + base, work->out + base, MACHINE_SAMPLES * MACHINE_OUT_BYTES);
    if (record == NULL) {
        if (!made->is_fault)
            conf_golden_note_absent(work->run->golden, &work->run->rows[made->op], made->op,
                                    made->name);
        return false;
    }
    conf_golden_note_present(work->run->golden, &work->run->rows[made->op], made->op, made->name);
    if (record->value_bytes != MACHINE_OUT_BYTES ||
        record->count != conf_golden_count(options, MACHINE_SAMPLES)) {
        conf_note(&work->run->rows[made->op], "%s: other samples than in the golden file",
                  made->name);
        return false;
    }
    for (size_t n = 0; n < record->count; n++)
        memcpy(work->want + base +
                   conf_golden_sample(options, MACHINE_SAMPLES, n) * MACHINE_OUT_BYTES,
               record->values + n * MACHINE_OUT_BYTES, MACHINE_OUT_BYTES);
    return true;
}

static enum pxr_status run_golden(struct work *work, struct pxr_error *err)
{
    enum pxr_status status = run_on(work, work->run->runner, work->out, err);
    for (unsigned i = 0; i < work->count && status == PXR_OK; i++) {
        if (work->run->options->golden == CONF_GOLDEN_WRITE)
            keep_case(work, i);
        else if (take_golden(work, i))
            compare_case(work, i);
    }
    return status;
}

/* ---- with the oracle ---- */

static bool is_fault(enum pxr_status status)
{
    return status >= PXR_FAULT_ADDRESS;
}

/* Names the engine that refused it before the message. */
static enum pxr_status run_both(struct work *work, const char **by, struct pxr_error *err)
{
    struct pxr_error oracle_err = {0};
    enum pxr_status status = run_on(work, conf_runner(work->run), work->out, err);
    if (status != PXR_OK && !is_fault(status))
        return status;
    enum pxr_status want = run_on(work, work->run->oracle, work->want, &oracle_err);
    if (is_fault(status)) /* both, when the instruction is meant to */
        return want == status && work->cases[0].is_fault ? PXR_OK : status;
    if (want != PXR_OK) {
        *err = oracle_err;
        *by = "oracle: ";
        return want;
    }
    for (unsigned i = 0; i < work->count; i++)
        compare_case(work, i);
    return PXR_OK;
}

/* A kernel that is meant to fault leaves nothing to compare. */
static enum pxr_status run_all(struct work *work, const char **by, struct pxr_error *err)
{
    enum pxr_status status = run_both(work, by, err);
    for (unsigned i = 0; i < work->count && status == PXR_OK; i++)
        if (!work->cases[0].is_fault && take_golden(work, i))
            compare_case(work, i);
    return status;
}

void conf_run_machine_batch(struct conf_run *run, const struct machine_case *cases, unsigned count)
{
    struct work work = {.run = run, .cases = cases, .count = count};
    struct conf_row *row = &run->rows[cases[0].op];
    struct pxr_error err = {0};
    const char *by = "";
    bool is_golden_only = run->golden != NULL && run->options->golden_cases == 0;
    enum pxr_status status = prepare(&work) ? PXR_OK : PXR_OUT_OF_MEMORY;
    if (status == PXR_OK)
        status = is_golden_only        ? run_golden(&work, &err)
                 : run->golden != NULL ? run_all(&work, &by, &err)
                                       : run_both(&work, &by, &err);
    if (status != PXR_OK && count > 1) {
        for (unsigned i = 0; i < count; i++)
            conf_run_machine_batch(run, &cases[i], 1);
    } else if (status != PXR_OK && !(is_golden_only && cases[0].is_alone)) {
        row->refused += !is_fault(status); /* a fault that the other engine does not have */
        conf_note(row, "%s: %s%s: %s", cases[0].name, by, pxr_status_name(status), err.message);
    }
    finish(&work);
}

/* ---- all forms of a row ---- */

static void flush(struct collector *collector)
{
    if (collector->count > 0 && conf_claim(collector->run))
        conf_run_machine_batch(collector->run, collector->cases, collector->count);
    for (unsigned i = 0; i < collector->count; i++)
        machine_case_free(&collector->cases[i]);
    collector->count = 0;
}

static bool collect_form(const struct ptx_form *form, void *data)
{
    struct collector *collector = data;
    struct conf_row *row = &collector->run->rows[form->op];
    if (!conf_has_target(collector->run->options, form->min_sm))
        return true;
    collector->form_number++;
    row->forms += collector->run->is_first;
    if (!is_wanted(collector, form))
        return true;
    bool is_known = true;
    for (unsigned n = 0;; n++) {
        struct machine_case made;
        if (!machine_case_make(form, n, collector->case_number, &made, &is_known))
            break;
        const struct conf_options *options = collector->run->options;
        collector->case_number++;
        /* the error of a kernel ends all a process can do with a GPU */
        if (made.is_fault && options->driver != NULL) {
            machine_case_free(&made);
            continue;
        }
        if (!is_legacy(&made)) {
            made.ptx = made.ptx > options->base_ptx ? made.ptx : options->base_ptx;
            made.sm = made.sm > options->base_sm ? made.sm : options->base_sm;
        }
        if (collector->count > 0 &&
            (collector->cases[0].value_type != made.value_type || made.is_alone))
            flush(collector);
        collector->cases[collector->count++] = made;
        if (collector->count == BATCH || made.is_alone)
            flush(collector);
    }
    if (!is_known && collector->run->is_first) {
        row->refused++;
        conf_note(row, "%s: no template for this instruction", form->text);
    }
    return is_known;
}

void conf_run_machine_row(struct conf_run *run, enum ptx_op op)
{
    struct collector *collector = calloc(1, sizeof *collector);
    if (collector == NULL) {
        conf_note(&run->rows[op], "out of memory");
        return;
    }
    collector->run = run;
    ptx_op_each_form(op, collect_form, collector);
    flush(collector);
    forget(collector);
    free(collector);
}
