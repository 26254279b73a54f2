/* SPDX-License-Identifier: Apache-2.0
 *
 * Random kernels on the oracle and on the product. What tells them apart is written to a file,
 * made smaller, and completed with what the memory should hold.
 *
 *   random_kernels [--seed S] [--count N] [--time SECONDS] [--backend product|driver]
 *                  [--out DIR]
 *   random_kernels --print SEED | --check FILE | --reduce FILE
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/random/compare.h"
#include "tests/random/generator.h"
#include "tests/random/reduce.h"

#define KERNEL_SECONDS  120
#define MAX_STEPS       UINT64_C(30000000)
#define CHECK_SCHEDULES 8 /* of the oracle: a candidate may have lost what made values defined */
#define MAX_CHECKS      3000
#define MAX_REPORTS     20
#define CHECK_STATUS    10 /* exit status of --check: this plus the verdict */

struct options {
    const char *program;
    const char *directory;
    const struct backend *tested;
    uint64_t seed;
    uint64_t count;
    unsigned seconds; /* 0: no limit */
};

static const char *const verdict_names[VERDICT_COUNT] = {"same", "different", "invalid",
                                                         "unsupported"};

/* ---- one text ---- */

static enum verdict judge(const char *name, const char *bytes, const struct backend *tested,
                          unsigned schedules, struct pxr_error *err)
{
    struct ptx_case c;
    struct comparison comparison = {.verdict = VERDICT_INVALID};
    if (case_parse(name, bytes, &c, &comparison.err) == PXR_OK) {
        c.max_steps = MAX_STEPS;
        compare_case(&c, tested, schedules, &comparison);
    }
    *err = comparison.err;
    comparison_fini(&comparison);
    case_fini(&c);
    return comparison.verdict;
}

/* ---- files for tests/ptx/regress ---- */

/* "expect: …" of a buffer, equal values in a row counted. */
static void add_expectation(const struct case_arg *arg, const uint8_t *bytes, struct text *text)
{
    size_t count = arg->bytes / arg->elem_bytes;
    unsigned column = 0;
    if (memcmp(arg->initial, bytes, arg->bytes) == 0) {
        text_add(text, "// expect: same\n");
        return;
    }
    text_add(text, "// expect: { ");
    for (size_t n = 0, run; n < count; n += run) {
        uint64_t value = 0;
        memcpy(&value, bytes + n * arg->elem_bytes, arg->elem_bytes);
        run = 1;
        while (n + run < count && memcmp(bytes + n * arg->elem_bytes,
                                         bytes + (n + run) * arg->elem_bytes, arg->elem_bytes) == 0)
            run++;
        text_add(text, "%s0x%" PRIx64, n == 0 ? "" : column % 8 ? ", " : ",\n//   ", value);
        if (run > 1)
            text_add(text, "*%zu", run);
        column++;
    }
    text_add(text, " }\n");
}

/* The text with what the oracle says of every buffer, without the marks of constructs. */
static void complete(const struct text *from, const struct ptx_case *c,
                     const struct case_memory *memory, struct text *to)
{
    size_t arg = 0;
    bool is_in_list = false;
    for (const char *at = from->bytes; *at;) {
        size_t len = strcspn(at, "\n");
        len += at[len] == '\n';
        bool is_mark = strncmp(at, "//<", 3) == 0 || strncmp(at, "//>", 3) == 0;
        bool is_buffer = strncmp(at, "// buffer:", 10) == 0;
        if (!is_mark)
            text_add_bytes(to, at, len);
        is_in_list = (is_in_list || (is_buffer && memchr(at, '{', len))) && !memchr(at, '}', len);
        bool ends_buffer = (is_buffer || (arg < c->arg_count && memchr(at, '}', len))) &&
                           !is_in_list && strncmp(at, "//", 2) == 0;
        if (ends_buffer && arg < c->arg_count) {
            add_expectation(&c->args[arg], memory->bytes[arg], to);
            arg++;
        }
        at += len;
    }
}

static bool write_completed(const struct text *text, const struct backend *tested, const char *path)
{
    struct ptx_case c;
    struct comparison comparison = {.verdict = VERDICT_INVALID};
    struct text completed = {0};
    bool is_written = false;
    if (case_parse(path, text->bytes, &c, &comparison.err) == PXR_OK)
        compare_case(&c, tested, 2, &comparison);
    if (comparison.memory.bytes[0])
        complete(text, &c, &comparison.memory, &completed);
    else
        text_add_bytes(&completed, text->bytes, text->len);
    is_written = text_write_file(completed.bytes, completed.len, path);
    printf("%s: %s\n", path, comparison.err.message);
    text_fini(&completed);
    comparison_fini(&comparison);
    case_fini(&c);
    return is_written;
}

/* A driver cannot take this process with it, and a context takes long to make. */
static int judge_on_driver(const char *bytes)
{
    struct pxr_error err;
    alarm(KERNEL_SECONDS);
    enum verdict verdict = judge("candidate", bytes, &backend_driver, CHECK_SCHEDULES, &err);
    alarm(0);
    return CHECK_STATUS + (int)verdict;
}

static int reduce_file(const struct options *options, const char *path)
{
    struct text text = {0};
    char candidate[4096];
    char smaller[4096];
    snprintf(candidate, sizeof candidate, "%s.candidate", path);
    snprintf(smaller, sizeof smaller, "%s.reduced.ptx", path);
    struct reducer reducer = {.judge = options->tested == &backend_driver ? judge_on_driver : NULL,
                              .program = options->program,
                              .backend = options->tested->name,
                              .candidate = candidate,
                              .max_checks = MAX_CHECKS};
    if (!text_read_file(&text, path)) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 2;
    }
    reducer.wanted = reducer_check(&reducer, text.bytes, text.len);
    if (reducer.wanted == CHECK_STATUS + VERDICT_SAME) {
        printf("%s: no difference\n", path);
        remove(candidate);
        text_fini(&text);
        return 1;
    }
    reduce_text(&reducer, &text);
    printf("%u checks; ", reducer.checks);
    bool is_kept = reducer.wanted == CHECK_STATUS + VERDICT_DIFFERENT
                       ? write_completed(&text, options->tested, smaller)
                       : text_write_file(text.bytes, text.len, smaller);
    text_fini(&text);
    return is_kept ? 0 : 2;
}

/* ---- many seeds ---- */

/* The seed under way, for the handler; written before each kernel. */
static volatile sig_atomic_t current_seed_low;
static volatile sig_atomic_t current_seed_high;

static void report_hang(int signal)
{
    char line[64] = "no end or a crash, seed ";
    size_t len = strlen(line);
    uint64_t seed = (uint64_t)(uint32_t)current_seed_high << 32 | (uint32_t)current_seed_low;
    char digits[24];
    size_t count = 0;
    (void)signal;
    do {
        digits[count++] = (char)('0' + seed % 10);
        seed /= 10;
    } while (seed);
    while (count)
        line[len++] = digits[--count];
    line[len++] = '\n';
    if (write(STDERR_FILENO, line, len) < 0)
        _exit(4);
    _exit(3);
}

static enum verdict try_seed(const struct options *options, uint64_t seed, bool is_reported)
{
    struct generator_config config = generator_config_from_seed(seed);
    struct text text = {0};
    struct pxr_error err;
    char path[4096];
    current_seed_low = (sig_atomic_t)(uint32_t)seed;
    current_seed_high = (sig_atomic_t)(uint32_t)(seed >> 32);
    alarm(KERNEL_SECONDS);
    generator_make(&config, &text);
    enum verdict verdict = judge("random kernel", text.bytes, options->tested, 2, &err);
    alarm(0);
    if (verdict != VERDICT_SAME && is_reported) {
        printf("seed %" PRIu64 ": %s: %s\n", seed, verdict_names[verdict], err.message);
        snprintf(path, sizeof path, "%s/random_%" PRIu64 ".ptx", options->directory, seed);
        if (text_write_file(text.bytes, text.len, path) && verdict == VERDICT_DIFFERENT)
            reduce_file(options, path);
        fflush(stdout);
    }
    text_fini(&text);
    return verdict;
}

static int try_many(const struct options *options)
{
    uint64_t counts[VERDICT_COUNT] = {0};
    uint64_t reports = 0;
    time_t start = time(NULL);
    signal(SIGALRM, report_hang);
    signal(SIGABRT, report_hang);
    for (uint64_t n = 0; n < options->count; n++) {
        if (options->seconds && time(NULL) - start >= (time_t)options->seconds)
            break;
        enum verdict verdict = try_seed(options, options->seed + n, reports < MAX_REPORTS);
        reports += verdict != VERDICT_SAME;
        counts[verdict]++;
    }
    for (int n = 0; n < VERDICT_COUNT; n++)
        printf("%s%" PRIu64 " %s", n ? ", " : "", counts[n], verdict_names[n]);
    printf("\n");
    return reports != 0 || counts[VERDICT_SAME] == 0;
}

static int check_file(const struct options *options, const char *path)
{
    struct text text = {0};
    struct pxr_error err;
    enum verdict verdict = VERDICT_INVALID;
    if (text_read_file(&text, path))
        verdict = judge(path, text.bytes, options->tested, CHECK_SCHEDULES, &err);
    printf("%s: %s\n", verdict_names[verdict], verdict == VERDICT_SAME ? "" : err.message);
    text_fini(&text);
    return CHECK_STATUS + (int)verdict;
}

static int print_seed(uint64_t seed)
{
    struct generator_config config = generator_config_from_seed(seed);
    struct text text = {0};
    generator_make(&config, &text);
    fwrite(text.bytes, 1, text.len, stdout);
    text_fini(&text);
    return 0;
}

static const struct backend *choose_backend(const char *name)
{
    return strcmp(name, "driver") == 0 ? &backend_driver : &backend_product;
}

static int usage(void)
{
    fputs("random_kernels [--seed S] [--count N] [--time SECONDS] [--backend product|driver] "
          "[--out DIR]\nrandom_kernels --print SEED | --check FILE | --reduce FILE\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    char program[4096];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    program[len > 0 ? len : 0] = '\0';
    struct options options = {
        .program = program, .directory = ".", .tested = &backend_product, .seed = 1, .count = 100};
    for (int n = 1; n < argc; n += 2) {
        const char *value = n + 1 < argc ? argv[n + 1] : NULL;
        if (!value)
            return usage();
        if (strcmp(argv[n], "--seed") == 0)
            options.seed = strtoull(value, NULL, 0);
        else if (strcmp(argv[n], "--count") == 0)
            options.count = strtoull(value, NULL, 0);
        else if (strcmp(argv[n], "--time") == 0)
            options.seconds = (unsigned)strtoul(value, NULL, 0);
        else if (strcmp(argv[n], "--out") == 0)
            options.directory = value;
        else if (strcmp(argv[n], "--backend") == 0)
            options.tested = choose_backend(value);
        else if (strcmp(argv[n], "--print") == 0)
            return print_seed(strtoull(value, NULL, 0));
        else if (strcmp(argv[n], "--check") == 0)
            return check_file(&options, value);
        else if (strcmp(argv[n], "--reduce") == 0)
            return reduce_file(&options, value);
        else
            return usage();
    }
    if (options.seconds && options.count == 100)
        options.count = UINT64_MAX;
    return try_many(&options);
}
